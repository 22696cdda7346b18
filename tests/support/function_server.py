"""A composition function behind gRPC, for tests. Its input says what it does: see `_behave`."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from concurrent import futures

import grpc
from crossplane.function.proto.v1 import run_function_pb2 as v1
from crossplane.function.proto.v1 import run_function_pb2_grpc as v1_services
from crossplane.function.proto.v1beta1 import run_function_pb2 as v1beta1
from crossplane.function.proto.v1beta1 import run_function_pb2_grpc as v1beta1_services

OPTIONS = [("grpc.max_send_message_length", 1 << 28), ("grpc.max_receive_message_length", 1 << 28)]


def answer(request, messages):
    response = messages.RunFunctionResponse(desired=request.desired, context=request.context)
    behaviour = dict(request.input).get("behaviour", "compose")
    _behave(behaviour, request, response, messages)
    return response


def _behave(behaviour, request, response, messages):
    made = response.desired.resources["made"]
    region = request.observed.composite.resource["spec"]["region"]
    made.resource.update({"apiVersion": "v1", "kind": "ConfigMap", "data": {"region": region, "pid": str(os.getpid())}})
    match behaviour:
        case "compose":
            made.ready = messages.READY_TRUE
            response.results.add(severity=messages.SEVERITY_WARNING, message="a warning")
            response.conditions.add(type="Made", status=messages.STATUS_CONDITION_TRUE, reason="Done")
            response.context.update({"seen": True})
        case "require":
            selector = response.requirements.resources["maps"]
            selector.api_version, selector.kind = "v1", "ConfigMap"
            selector.match_labels.labels["kind"] = "wanted"
            found = request.required_resources["maps"].items
            made.resource.update({"data": {"found": ",".join(r.resource["metadata"]["name"] for r in found)}})
        case "fatal":
            response.results.add(severity=messages.SEVERITY_FATAL, message="it cannot be done")
        case "hang":
            time.sleep(3600)
        case "die":
            sys.stderr.write("the function gives up\n")
            sys.stderr.flush()
            os._exit(3)
        case "huge":
            made.resource.update({"data": {"text": "x" * (20 << 20)}})
        case "many":
            for number in range(10_000):
                response.desired.resources[str(number)].SetInParent()
        case "demanding":
            for number in range(2_000):
                response.requirements.resources[str(number)].kind = "ConfigMap"
        case "unsettled":
            number = len(request.required_resources)
            for each in range(number + 1):
                selector = response.requirements.resources[f"{number}-{each}"]
                selector.api_version, selector.kind, selector.match_name = "v1", "ConfigMap", "one"
        case "no kind":
            made.resource.Clear()
            made.resource.update({"apiVersion": "v1"})
        case "bad name":
            response.desired.resources["a\x1b[31m"].resource.update({"apiVersion": "v1", "kind": "ConfigMap"})
        case "bad severity":
            response.results.add(severity=17, message="?")
        case "not finite":
            made.resource.update({"spec": {"n": float("inf")}})
        case "valueless":
            made.resource.fields["spec"].SetInParent()
        case "raise":
            raise RuntimeError("a bug")
        case "child" | "hidden child":
            # A hidden one is in a session of its own, and its parent is gone.
            fork = "if os.fork(): os._exit(0)\nos.setsid()\n" if behaviour == "hidden child" else ""
            code = f"import os, sys, time\n{fork}print(os.getpid(), flush=True)\ntime.sleep(3600)"
            child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
            started = child.stdout.readline().strip()
            made.resource.update({"data": {"pid": str(os.getpid()), "child": started}})


class V1(v1_services.FunctionRunnerServiceServicer):
    def RunFunction(self, request, _):  # the protocol's name
        return answer(request, v1)


class V1Beta1(v1beta1_services.FunctionRunnerServiceServicer):
    def RunFunction(self, request, _):  # the protocol's name
        return answer(request, v1beta1)


class Garbage(grpc.GenericRpcHandler):
    """Answers each call with bytes that are no message."""

    def service(self, _):
        return grpc.unary_unary_rpc_method_handler(lambda *_: b"\xff\xfe no message")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--network", default="unix")
    parser.add_argument("--insecure", action="store_true")
    parser.add_argument("--only", default="v1")
    parser.add_argument("--ignore-terminate", action="store_true")
    options = parser.parse_args()
    if options.ignore_terminate:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    server = grpc.server(futures.ThreadPoolExecutor(4), options=OPTIONS)
    match options.only:
        case "v1":
            v1_services.add_FunctionRunnerServiceServicer_to_server(V1(), server)
        case "v1beta1":
            v1beta1_services.add_FunctionRunnerServiceServicer_to_server(V1Beta1(), server)
        case "garbage":
            server.add_generic_rpc_handlers((Garbage(),))
    server.add_insecure_port(options.address if options.network == "tcp" else f"unix:{options.address}")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
