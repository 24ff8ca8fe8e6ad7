"""Writes the reference of the installed package: python write_reference.py FOLDER."""

import sys
import warnings
from pathlib import Path

import pdoc

import sprifed
import sprifed.flower.client
import sprifed.flower.server

warnings.simplefilter("error")
# Names that are imported when they are used have to be there to be described.
for name in sprifed.__all__:
    setattr(sprifed, name, getattr(sprifed, name))
modules = ["sprifed", "sprifed.flower.client", "sprifed.flower.server", "sprifed.flower.exchange"]
pdoc.pdoc(*modules, output_directory=Path(sys.argv[1]))
