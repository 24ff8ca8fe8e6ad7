"""A study between parties whose messages Flower carries.

Flower manages the fleet and moves bytes. What is asked, what is answered, noise, masks, signatures and
ledgers are those of every other way to run a study, in Rust. A project needs two lines::

    from sprifed.flower.client import app    # client_app.py
    from sprifed.flower.server import app    # server_app.py

Each message starts a process on a node, so the two halves are imported apart and import little.
"""
