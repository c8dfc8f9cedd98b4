"""Random networks of all layer types, by a seeded generator: thousands are cheap."""

from __future__ import annotations

from tests.strategies import KINDS, WITH_PARAMETERS


class _Builder:
    """Adds random layers to a description (FORMAT.md section 2)."""

    def __init__(self, rng, max_size, max_tokens, max_degree):
        self.rng, self.max_size, self.max_degree = rng, max_size, max_degree
        self.tokens, self.width = rng.randint(1, max_tokens), rng.randint(1, max_size)
        self.widths = {"input": self.width}
        self.layers = []

    def add(self, kind, inputs, out, **sizes):
        name = f"n{len(self.layers)}"
        self.layers.append({"id": name, "inputs": inputs, "type": kind, **sizes})
        self.widths[name] = out

    def linear(self, source, out):
        self.add("linear", [source], out, d_in=self.widths[source], d_out=out)

    def convolution(self, source):
        d_in = self.widths[source]
        kernel, stride = self.rng.randint(1, d_in), self.rng.randint(1, 2)
        positions = (d_in - kernel) // stride + 1
        channels = self.rng.randint(1, max(1, self.max_size // positions))
        sizes = {"d_in": d_in, "kernel": kernel, "stride": stride, "channels": channels}
        self.add("convolution", [source], channels * positions, **sizes)

    def tied(self, layer):
        sizes = {key: value for key, value in layer.items() if key not in ("id", "inputs", "type")}
        width = self.widths[layer["inputs"][0]]
        source = self.rng.choice(sorted(name for name in self.widths if self.widths[name] == width))
        self.add(layer["type"], [source], self.widths[layer["id"]], **sizes, weights=layer["id"])

    def unread(self):
        used = {source for layer in self.layers for source in layer["inputs"]}
        return [name for name in self.widths if name not in used]

    def grow(self, kinds):
        rng, widths = self.rng, self.widths
        unread = self.unread()
        source = rng.choice(unread) if unread and rng.random() < 0.6 else rng.choice(list(widths))
        owners = [x for x in self.layers if x["type"] in WITH_PARAMETERS and "weights" not in x]
        kind = rng.choice([kind for kind in kinds if kind != "tied" or owners])
        size, width = rng.randint(1, self.max_size), widths[source]
        if kind == "lightning_attention":
            self.add(kind, [source], size, d_in=width, d_out=size, rank=rng.randint(1, self.max_size))
        elif kind == "linear":
            self.linear(source, size)
        elif kind == "bias":
            self.add(kind, [source], width, width=width)
        elif kind == "convolution":
            self.convolution(source)
        elif kind == "tied":
            self.tied(rng.choice(owners))
        elif kind == "monomial_activation":
            self.add(kind, [source], width, degree=rng.randint(1, self.max_degree))
        else:
            fitting = sorted(name for name in widths if widths[name] == width)
            self.add(kind, [rng.choice(fitting) for _ in range(rng.randint(2, 3))], width)

    def finish(self):
        if not any(layer["type"] in WITH_PARAMETERS for layer in self.layers):
            self.linear(self.layers[-1]["id"], self.rng.randint(1, self.max_size))
        sinks = [name for name in self.unread() if name != "input"]
        if len(sinks) > 1:
            out, ends = self.widths[sinks[0]], []
            for sink in sinks:
                if self.widths[sink] != out:
                    self.linear(sink, out)
                    sink = self.layers[-1]["id"]
                ends.append(sink)
            self.add("sum", ends, out)
        return {"tokens": self.tokens, "width": self.width, "layers": self.layers}


def random_network(rng, max_layers=7, max_size=4, max_tokens=3, max_degree=3, kinds=KINDS):
    """Return the description of a random network with parameters; layers rather read what is still unread."""
    builder = _Builder(rng, max_size, max_tokens, max_degree)
    for _ in range(rng.randint(2, max_layers)):
        builder.grow(kinds)
    return builder.finish()
