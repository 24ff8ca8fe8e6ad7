"""CPU time of Flower's SecAgg+ in one process: server workflow and client mod, and no network.

Arguments: clients, coordinates, shares per secret (a client's own among them), threshold, repetitions.
Prints one JSON object: seconds of one client and of the server for one sum, and bytes a client sends.
Converting messages to bytes and back is left out of the times, on both sides.
"""

import json
import logging
import sys
import time
from importlib.metadata import version

import numpy as np
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.client.mod import secaggplus_mod
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.common.serde import recorddict_from_proto, recorddict_to_proto
from flwr.compat.common import recorddict_compat as compat
from flwr.server.client_manager import SimpleClientManager
from flwr.server.client_proxy import ClientProxy
from flwr.server.compat.legacy_context import LegacyContext
from flwr.server.strategy import FedAvg
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD, Key
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

logging.getLogger("flwr").setLevel(logging.ERROR)
# What a SuperLink would have set.
TaskIdentity.task_id, TaskIdentity.run_id, TaskIdentity.node_id = 1, 1, 0


def unused(*_args, **_kwargs):
    raise NotImplementedError("the workflow is not expected to call this")


class Proxy(ClientProxy):
    """A client as the strategy knows it: a number."""

    get_properties = get_parameters = fit = evaluate = reconnect = unused

    def __init__(self, node_id):
        super().__init__(str(node_id))
        self.node_id = node_id


class InProcess(Grid):
    """Hands messages to the client mod and keeps the CPU time of the clients apart."""

    set_run = create_message = push_messages = pull_messages = unused
    run = property(unused)

    def __init__(self, vectors):
        self.vectors = vectors
        self.contexts = {
            node: Context(1, node, {}, RecordDict(), {}) for node in vectors
        }
        self.client_seconds = 0.0
        self.outside_seconds = 0.0
        self.bytes = {}

    def get_node_ids(self):
        return list(self.vectors)

    def send_and_receive(self, messages, *, timeout=None):
        entered = time.process_time()
        replies = []
        sizes = []
        for message in messages:
            node = message.metadata.dst_node_id
            content = recorddict_from_proto(recorddict_to_proto(message.content))
            asked = Message(
                content=content, dst_node_id=node, message_type=message.metadata.message_type
            )
            fitres = self.answer(node)
            start = time.process_time()
            answered = secaggplus_mod(
                asked, self.contexts[node], lambda asked, _: Message(fitres, reply_to=asked)
            )
            self.client_seconds += time.process_time() - start
            written = recorddict_to_proto(answered.content)
            sizes.append(len(written.SerializeToString()))
            answered = Message(recorddict_from_proto(written), reply_to=asked)
            replies.append(answered)
        stage = len(self.bytes)
        self.bytes[stage] = max(sizes)
        self.outside_seconds += time.process_time() - entered
        return replies

    def answer(self, node):
        parameters = ndarrays_to_parameters([self.vectors[node]])
        return compat.fitres_to_recorddict(
            FitRes(Status(Code.OK, ""), parameters, 1, {}), keep_input=True
        )


def one_sum(n_clients, n_coordinates, shares, threshold, seed):
    generator = np.random.default_rng(seed)
    vectors = {
        node: generator.uniform(-1, 1, n_coordinates) for node in range(1, n_clients + 1)
    }
    clients = SimpleClientManager()
    for node in vectors:
        clients.register(Proxy(node))
    strategy = FedAvg(min_fit_clients=n_clients, min_available_clients=n_clients)
    context = LegacyContext(
        Context(1, 0, {}, RecordDict(), {}), strategy=strategy, client_manager=clients
    )
    context.state.config_records[MAIN_CONFIGS_RECORD] = ConfigRecord({Key.CURRENT_ROUND: 1})
    context.state.array_records[MAIN_PARAMS_RECORD] = compat.parameters_to_arrayrecord(
        ndarrays_to_parameters([np.zeros(n_coordinates)]), True
    )
    workflow = SecAggPlusWorkflow(shares, threshold, max_weight=1.0)
    grid = InProcess(vectors)
    start = time.process_time()
    workflow(grid, context)
    server = time.process_time() - start - grid.outside_seconds
    [mean] = parameters_to_ndarrays(
        compat.arrayrecord_to_parameters(context.state.array_records[MAIN_PARAMS_RECORD], True)
    )
    error = np.abs(mean - np.mean(list(vectors.values()), axis=0)).max()
    if not error < 1e-4:
        sys.exit(f"Flower's mean is wrong by {error}")
    return {
        "client_seconds": grid.client_seconds / n_clients,
        "server_seconds": server,
        "upload_bytes": grid.bytes[2],
        "sent_bytes": sum(grid.bytes.values()),
    }


def main():
    n_clients, n_coordinates, shares, threshold, repetitions = map(int, sys.argv[1:6])
    runs = [
        one_sum(n_clients, n_coordinates, shares, threshold, seed)
        for seed in range(repetitions)
    ]
    medians = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
    print(json.dumps({"version": version("flwr"), "repetitions": repetitions, **medians}))


main()
