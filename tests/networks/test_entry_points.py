"""Layer types of other distributions: a small one is written to a directory and put on the path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import lightningalg as la
from lightningalg.errors import InputError
from lightningalg.networks import layers
from lightningalg.networks.base import AbstractLayer, why_no_layer_type
from lightningalg.networks.layers.linear import Linear
from lightningalg.networks.network import Network, Node
from lightningalg.networks.spec import network_from_table

PAIRS = """
from dataclasses import dataclass
from lightningalg.networks.base import AbstractLayer

@dataclass(frozen=True, slots=True)
class Gated(AbstractLayer):
    '''X -> (W X) * (U X), entry by entry.'''
    d_in: int
    d_out: int
    type_name = "gated"

    def parameter_shapes(self):
        return {"W": (self.d_out, self.d_in), "U": (self.d_out, self.d_in)}

    def input_width(self):
        return self.d_in

    def output_width(self, input_width):
        return self.d_out

    def forward(self, parameters, *inputs):
        return (parameters["W"] @ inputs[0]) * (parameters["U"] @ inputs[0])
"""
GATED = {"type": "gated", "d_in": 2, "d_out": 3}


def distribution(folder: Path, name: str, entries: str, module: str = PAIRS) -> Path:
    """Write an installed distribution: a module and its metadata."""
    folder.mkdir(exist_ok=True)
    package = name.replace("-", "_")
    (folder / f"{package}.py").write_text(module)
    metadata = folder / f"{package}-1.5.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text("[lightningalg.layers]\n" + dedent(entries))
    return folder


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that puts a new distribution on the path."""
    layers._load.cache_clear()
    made = []

    def put(name, entries, module=PAIRS):
        folder = distribution(tmp_path / f"site{len(made)}", name, entries, module)
        monkeypatch.syspath_prepend(str(folder))
        made.append(name.replace("-", "_"))

    yield put
    layers._load.cache_clear()
    for name in made:
        sys.modules.pop(name, None)


def gated_network(**rest):
    return network_from_table({"tokens": 1, "layers": [GATED | rest]})


def test_a_layer_of_another_distribution(install):
    install("gated-layers", "gated = gated_layers:Gated")
    network = gated_network()
    assert str(network) == "network of 1 layer (1 gated), width 2 to 3, tokens 1"
    assert la.Network.from_toml(network.to_toml()) == network
    assert list(layers.layer_types()) == [*layers.LAYER_TYPES, "gated"]
    phi = network.polynomial_map()
    assert phi([1, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, -1], [[2], [3]]).rows == ((4,), (9,), (-5,))
    assert phi.degrees().input == 2 and phi.degrees().parameters == (1, 1)
    # three quadrics in two variables; of its bounds only those that do not need to know the layer apply
    result = la.dimension(network)
    assert (result.value, result.lower_bound, result.upper_bound) == (None, 9, 12)
    assert {result.upper_bound_by, *(b.method for b in result.other_upper_bounds)} == {
        "layerwise",
        "parameters",
    }


def test_it_may_stand_between_others_and_be_tied(install):
    install("gated-layers", "gated = gated_layers:Gated")
    table = {
        "tokens": 1,
        "layers": [
            GATED | {"d_out": 2},
            {"type": "linear", "d_in": 2, "d_out": 2},
            GATED | {"d_out": 2, "weights": "layer1"},
        ],
    }
    network = network_from_table(table)
    assert network.parameter_count == 12
    result = la.dimension(network)
    assert result.lower_bound <= result.upper_bound == 12
    assert result.to_json()["network"]["layers"][2]["weights"] == "layer1"


def test_nothing_is_loaded_for_built_in_types(install):
    install("broken-layers", "broken = broken_layers:Layer", "raise RuntimeError('loaded')")
    assert la.Network.from_toml(la.deep_linear(2, 2).to_toml()) == la.deep_linear(2, 2)
    with pytest.raises(InputError, match=r"unknown type 'softmax': known types are .*linear.*broken"):
        network_from_table({"layers": [{"type": "softmax"}]})
    assert "broken_layers" not in sys.modules


@pytest.mark.parametrize(
    ("entries", "module", "message"),
    [
        ("gated = odd_layers:Gated", "raise RuntimeError('no\\nluck')", "loaded: RuntimeError: no luck"),
        ("gated = odd_layers:Gone", PAIRS, "cannot be loaded: AttributeError"),
        ("gated = odd_layers_gone:Gated", PAIRS, "cannot be loaded: ModuleNotFoundError"),
        ("gated = odd_layers:Gated", "Gated = 3", "is no layer: it is no subclass of AbstractLayer"),
        ("gated = odd_layers:Gated", "Gated = int", "is no layer: it is no subclass of AbstractLayer"),
        (
            "gated = odd_layers:Gated",
            "from lightningalg.networks.base import AbstractLayer as Gated",
            "is no layer: it does not define forward, input_width, output_width, parameter_shapes",
        ),
        ("gated = odd_layers:Gated", PAIRS.replace('"gated"', '"paired"'), "type_name is 'paired', not the"),
        ("gated = odd_layers:Gated", PAIRS.replace('"gated"', '"Gated!"'), "type_name is 'Gated!': accepted"),
        ("gated = odd_layers:Gated", PAIRS.replace("@dataclass(frozen=True, slots=True)", ""), "dataclass"),
        ("gated = odd_layers:Gated", PAIRS.replace("d_out: int", "inputs: int"), "field 'inputs' is a key"),
        (
            "gated = odd_layers:Gated",
            "from lightningalg.networks.layers.linear import Linear\nclass Gated(Linear): pass",
            "cannot be loaded: TypeError: Gated derives from the layer Linear",
        ),
    ],
)  # fmt: skip
def test_broken_entry_points_name_their_distribution(install, entries, module, message):
    install("odd-layers", entries, module)
    with pytest.raises(InputError, match=message) as caught:
        gated_network()
    text = str(caught.value)
    assert "distribution odd-layers 1.5" in text and 'layer "layer1"' in text and "\n" not in text
    with pytest.raises(InputError):
        layers.layer_types()


def test_clashing_names_are_refused(install):
    install("first-layers", "gated = first_layers:Gated")
    install("second-layers", "gated = second_layers:Gated")
    with pytest.raises(InputError, match=r"offered by .*-layers 1\.5 and .*-layers 1\.5: remove one"):
        gated_network()
    install("third-layers", "linear = third_layers:Gated")
    with pytest.raises(InputError, match=r"third-layers 1\.5 offers a layer type 'linear', which is"):
        gated_network()
    assert network_from_table({"layers": [{"type": "linear", "d_in": 1, "d_out": 1}]}).parameter_count == 1


def test_a_built_in_name_is_not_taken_by_another_class():
    class Fake(AbstractLayer):
        type_name = "linear"
        parameter_shapes = input_width = output_width = forward = None

    with pytest.raises(InputError, match="the class Fake uses the name of a built-in type"):
        Node("a", ("input",), Fake.__new__(Fake))
    with pytest.raises(TypeError, match="derives from the layer Linear"):
        type("Better", (Linear,), {})
    assert all(why_no_layer_type(kind) is None for kind in layers.LAYER_TYPES.values())


def test_a_forward_that_fails_is_an_input_error(install):
    wrong = PAIRS.replace('parameters["U"] @ inputs[0]', 'parameters["U"].frobnicate()')
    install("wrong-layers", "gated = wrong_layers:Gated", wrong)
    with pytest.raises(InputError, match=r'layer "layer1" \(gated\) cannot be evaluated: AttributeError'):
        la.dimension(gated_network())


# -- the command line --------------------------------------------------------------------


def run(folder, *arguments):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    program = "from lightningalg.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True, text=True, timeout=120, env=environment, cwd=folder,
    )  # fmt: skip


def test_commands(tmp_path):
    distribution(tmp_path, "gated-layers", "gated = gated_layers:Gated")
    (tmp_path / "net.toml").write_text(
        'tokens = 1\n[[layer]]\ntype = "gated"\nd_in = 2\nd_out = 1\n'
    )  # fmt: skip
    certificate = tmp_path / "certificate.json"
    done = run(tmp_path, "dimension", "--network", "net.toml", "--json", "--out", certificate)
    assert done.returncode == 1 and not done.stderr, done  # the bounds do not meet
    result = json.loads(done.stdout)
    assert (result["lower_bound"], result["upper_bound"]) == (3, 4)
    assert result["network"]["layers"][0]["type"] == "gated"

    done = run(tmp_path, "verify", certificate)
    assert done.returncode == 2 and 'unsupported: layer type "gated"' in done.stdout
    done = run(tmp_path, "prove", certificate)
    assert done.returncode == 2 and not done.stdout
    assert 'is unsupported: layer type "gated"' in done.stderr and "Traceback" not in done.stderr


def test_commands_without_the_distribution(tmp_path):
    (tmp_path / "net.toml").write_text('[[layer]]\ntype = "gated"\nd_in = 2\nd_out = 1\n')
    done = run(tmp_path, "dimension", "--network", "net.toml")
    assert done.returncode == 2 and "unknown type 'gated': known types are" in done.stderr
    assert done.stderr.count("\n") == 1


def test_networks_of_classes_that_are_not_installed():
    """A class of the user's own needs no entry point in Python."""
    scope: dict = {}
    exec(PAIRS, scope)
    network = Network([Node("a", ("input",), scope["Gated"](2, 1))], tokens=1)
    assert la.dimension(network).lower_bound == 3
    with pytest.raises(InputError, match="unknown type 'gated'"):
        la.Network.from_toml(network.to_toml())
