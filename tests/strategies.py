"""Random networks for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st


@st.composite
def lightning_arguments(draw, max_layers=3, max_size=4, max_tokens=3, max_heads=1, residual=False):
    """Arguments of ``la.lightning``."""
    layers = draw(st.integers(1, max_layers))
    size = st.integers(1, max_size)
    skips = draw(st.lists(st.booleans() if residual else st.just(False), min_size=layers, max_size=layers))
    widths = [draw(size)]
    for skip in skips:
        widths.append(widths[-1] if skip else draw(size))
    each = {"min_size": layers, "max_size": layers}
    return {
        "widths": tuple(widths),
        "ranks": tuple(draw(st.lists(size, **each))),
        "tokens": draw(st.integers(1, max_tokens)),
        "heads": tuple(draw(st.lists(st.integers(1, max_heads), **each))),
        "residual": tuple(skips),
    }


WITH_PARAMETERS = ("lightning_attention", "linear", "bias", "convolution", "normalized_attention")
KINDS = (*WITH_PARAMETERS[:-1], "monomial_activation", "sum", "tied")
#: a network has normalised attention or monomial activations, not both
NORMALIZED_KINDS = ("normalized_attention", *WITH_PARAMETERS, "sum", "tied")


@st.composite
def dag_tables(draw, max_layers=5, max_size=3, max_tokens=3, max_degree=3, kinds=KINDS):
    """Descriptions (FORMAT.md section 2) of networks of all layer types, with at least one parameter."""
    tokens, width = draw(st.integers(1, max_tokens)), draw(st.integers(1, max_size))
    widths = {"input": width}
    layers = []

    def add(kind, inputs, out, **sizes):
        name = f"n{len(layers)}"
        layers.append({"id": name, "inputs": inputs, "type": kind, **sizes})
        widths[name] = out

    def linear(source, out):
        add("linear", [source], out, d_in=widths[source], d_out=out)

    def convolution(source):
        d_in = widths[source]
        kernel, stride = draw(st.integers(1, d_in)), draw(st.integers(1, 2))
        positions = (d_in - kernel) // stride + 1
        channels = draw(st.integers(1, max(1, max_size // positions)))
        sizes = {"kernel": kernel, "stride": stride, "channels": channels}
        add("convolution", [source], channels * positions, d_in=d_in, **sizes)

    def tied(layer):
        """A layer that uses the matrices of an earlier one."""
        sizes = {key: value for key, value in layer.items() if key not in ("id", "inputs", "type")}
        width = widths[layer["inputs"][0]]
        source = draw(st.sampled_from(sorted(name for name in widths if widths[name] == width)))
        add(layer["type"], [source], widths[layer["id"]], **sizes, weights=layer["id"])

    for _ in range(draw(st.integers(1, max_layers))):
        source = draw(st.sampled_from(sorted(widths)))
        owners = [layer for layer in layers if layer["type"] in WITH_PARAMETERS and "weights" not in layer]
        kind = draw(st.sampled_from([kind for kind in kinds if kind != "tied" or owners]))
        size = draw(st.integers(1, max_size))
        if kind in ("lightning_attention", "normalized_attention"):
            add(kind, [source], size, d_in=widths[source], d_out=size, rank=draw(st.integers(1, max_size)))
        elif kind == "linear":
            linear(source, size)
        elif kind == "bias":
            add(kind, [source], widths[source], width=widths[source])
        elif kind == "convolution":
            convolution(source)
        elif kind == "tied":
            tied(draw(st.sampled_from(owners)))
        elif kind == "monomial_activation":
            add(kind, [source], widths[source], degree=draw(st.integers(1, max_degree)))
        else:
            fitting = sorted(name for name in widths if widths[name] == widths[source])
            add(kind, draw(st.lists(st.sampled_from(fitting), min_size=2, max_size=3)), widths[source])
    if not any(layer["type"] in WITH_PARAMETERS for layer in layers):
        linear(layers[-1]["id"], draw(st.integers(1, max_size)))

    used = {source for layer in layers for source in layer["inputs"]}
    sinks = [layer["id"] for layer in layers if layer["id"] not in used]
    if len(sinks) > 1:
        out = widths[sinks[0]]
        ends = []
        for sink in sinks:
            if widths[sink] != out:
                linear(sink, out)
                sink = layers[-1]["id"]
            ends.append(sink)
        add("sum", ends, out)
    return {"tokens": tokens, "width": width, "layers": layers}
