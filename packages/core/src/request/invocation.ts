import {
  UnsupportedOperation,
  type Caller,
  type Decoded,
  type EngineRequest,
  type EngineResponse,
  type Op,
  type Operation,
} from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import { digestOfToken, type Call } from './call.ts';
import { withInternal } from './internal-request.ts';
import type { RequestDeadline } from './request-deadline.ts';

const ENGINES_OF_THE_CORE: ReadonlySet<string> = new Set(['system', 'identity', 'cubbyhole', 'token']);
const NO_HEADERS: EngineRequest['headers'] = {};

/** The engine's view of a call, made once and used for the existence check and for the handler. */
export function engineRequest(call: Call, decoded: Decoded, deadline: RequestDeadline): EngineRequest {
  const mount = call.mount!;
  const request: { -readonly [K in keyof EngineRequest]: EngineRequest[K] } = {
    id: call.id,
    operation: call.operation as Operation,
    path: call.rest,
    data: decoded.data as EngineRequest['data'],
    supplied: decoded.supplied as EngineRequest['supplied'],
    raw: call.data,
    storage: mount.storage,
    caller: callerOf(call),
    headers: call.request.headers ?? NO_HEADERS,
    get signal() {
      return deadline.signal;
    },
  };
  if (ENGINES_OF_THE_CORE.has(mount.type)) {
    withInternal(request, { request: call.request, token: call.token, identity: call.identity, acl: call.acl });
  }
  return request;
}

function callerOf(call: Call): Caller {
  const { identity } = call;
  return {
    displayName: identity?.displayName ?? '',
    entityId: identity?.entityId ?? '',
    policies: identity?.tokenPolicies ?? [],
    metadata: identity?.metadata ?? {},
    tokenDigest: digestOfToken(call),
    accessor: identity?.accessor ?? '',
    remoteAddress: call.remoteAddress,
  };
}

/** The handler of the operation. @throws UnsupportedOperation */
export function handlerOf(call: Call): Op<TProperties, TSchema> {
  const { operations } = call.match!.path.declaration;
  const found = operations[call.operation === 'create' ? 'update' : (call.operation as Exclude<Operation, 'create'>)];
  if (!found) throw new UnsupportedOperation();
  return found as Op<TProperties, TSchema>;
}

/** Calls the engine under the request's deadline. */
export async function invoke(call: Call, request: EngineRequest, deadline: RequestDeadline): Promise<EngineResponse | undefined> {
  const op = handlerOf(call);
  try {
    return await Promise.race([op.handle(request as never), deadline.passed]);
  } finally {
    deadline.clear();
  }
}
