"""What a release consists of: the page for a package index, the source archive, and the wheels. In no wheel itself."""
