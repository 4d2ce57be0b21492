"""The demo: made-up visits to try things on, and the story that ``plausibly demo`` tells with them."""
