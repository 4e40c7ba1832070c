"""Writes dissent/_constructors.pyi, what type checkers see of the parameters: write_stub.py FOLDER/dissent

Run by the build once the module is there. It needs only Python, not numpy, which the package imports.
"""
import importlib
import os
import sys
import types
from typing import Optional


def type_text(kind):
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def constructor(name, parameters):
    """A class with these attributes; the first one may be given by position."""
    first, *rest = [f"{each.name}: {type_text(each.type)}" for each in parameters]
    lines = [f"class {name}:", *(f"    {text}" for text in (first, *rest)), "    def __init__("]
    lines += ["        self,", f"        {first} = ...,", "        *,", *(f"        {text} = ...," for text in rest)]
    return [*lines, "    ) -> None: ...", ""]


def keywords(name, parameters):
    return [
        f"class {name}(TypedDict, total=False):",
        *(f"    {each.name}: {type_text(Optional[each.type])}" for each in parameters),
        "",
    ]


def stub(module):
    return "\n".join(
        [
            "# Written by the build.",
            "from typing import Any, Optional, Sequence, TypedDict",
            "",
            *constructor("FlowParameters", module.ensemble_parameters("flow")),
            *constructor("ProbabilisticParameters", module.ensemble_parameters("pne")),
            *constructor("GaussianProcessParameters", module.ensemble_parameters("gp")),
            *constructor("AutoParameters", module.ensemble_parameters("auto")),
            *keywords("FitKeywords", module.fit_parameters()),
        ]
    )


def main(folder):
    package = types.ModuleType("dissent")
    package.__path__ = [folder]
    sys.modules["dissent"] = package
    text = stub(importlib.import_module("dissent._parameters"))
    with open(os.path.join(folder, "_constructors.pyi"), "w") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
