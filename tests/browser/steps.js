// The steps of a page that sends a report, for crashes: every call to the database, the network and the lock, and every
// answer of theirs. Runs before the page, with STEP and HANG in place of the step's number and an address that does not
// answer, so that the page hangs there until it is ended. Nothing in the client knows of it.

(() => {
  const [at, address] = [STEP, HANG];
  const steps = (window.steps = []);
  const reach = (name) => {
    if (steps.push(name) !== at) return;
    const request = new XMLHttpRequest();
    request.open("GET", `${address}?${name}`, false);
    request.send();
  };
  const watch = (prototype, name) => {
    const before = prototype[name];
    prototype[name] = function (...given) {
      reach(`before ${name}`);
      const answer = before.apply(this, given);
      reach(`after ${name}`);
      if (answer instanceof EventTarget)
        for (const end of ["success", "complete"]) answer.addEventListener(end, () => reach(`${end} of ${name}`));
      else if (answer instanceof Promise) answer.finally(() => reach(`end of ${name}`));
      return answer;
    };
  };
  watch(IDBFactory.prototype, "open");
  watch(IDBDatabase.prototype, "transaction");
  for (const name of ["getAll", "get", "add", "put"]) watch(IDBObjectStore.prototype, name);
  watch(LockManager.prototype, "request");
  watch(window, "fetch");
})();
