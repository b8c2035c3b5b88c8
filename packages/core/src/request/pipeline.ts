import {
  EngineError,
  NotFound,
  PermissionDenied,
  Unavailable,
  UnsupportedPath,
  type Clock,
  type Decoded,
  type EngineRequest,
  type EngineResponse,
  type Log,
} from '@strongroom/engine-sdk';
import type { AuditTrail } from './audit-trail.ts';
import { admit } from './admission.ts';
import { answerOf, emptyAnswer } from './answer.ts';
import type { Authentication } from './authentication.ts';
import { newCall, type Call } from './call.ts';
import type { CoreRequest } from './core-request.ts';
import type { CoreResponse } from './core-response.ts';
import { failedResponse, failureOf } from './failure.ts';
import { engineRequest, handlerOf, invoke } from './invocation.ts';
import type { Issuing } from './issuing.ts';
import { helpFor } from '../system/help.ts';
import { RequestDeadline } from './request-deadline.ts';
import type { Routing } from './routing.ts';
import type { UnwrapDoor } from '../wrapping/unwrap-door.ts';
import type { Wrapping } from '../wrapping/wrapping.ts';
import type { LoginGuard } from './login-guard.ts';
import { newRequestId } from './request-id.ts';

export interface PipelineParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly routing: Routing;
  readonly authentication: Authentication;
  readonly logins: LoginGuard;
  readonly issuing: Issuing;
  readonly wrapping: Wrapping;
  readonly unwrapDoor: UnwrapDoor;
  readonly audit: AuditTrail;
}

/**
 * The way of a request, from top to bottom: admission, routing, authentication, existence (create or update), authorization, audit,
 * decoding, the engine, issuing (leases, tokens), wrapping, audit of the answer.
 */
export class Pipeline {
  readonly #parts: PipelineParts;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** Never throws. */
  async handle(request: CoreRequest): Promise<CoreResponse> {
    const call = newCall(newRequestId(), request);
    try {
      return await this.#carryOut(call);
    } catch (error) {
      return failedResponse(call.id, failureOf(error, this.#parts.log, call.id));
    }
  }

  async #carryOut(call: Call): Promise<CoreResponse> {
    const { routing, audit } = this.#parts;
    admit(call);
    const open = routing.alwaysOpen(call);
    if (open) return this.#answerUnaudited(call);
    routing.find(call);
    let failure: EngineError | undefined;
    try {
      const decoded = await this.#authorize(call);
      if (audit.enabled) await audit.request(call);
      const answer = await this.#serve(call, decoded);
      if (audit.enabled) await audit.response(call, answer);
      return answer;
    } catch (error) {
      failure = failureOf(error, this.#parts.log, call.id);
      if (audit.enabled && !audit.isOwnFailure(error)) await audit.refused(call, failure);
      return failedResponse(call.id, failure);
    } finally {
      if (call.lastUse) await this.#parts.authentication.finish(call);
    }
  }

  /** Seal status, health and the like: open to all, also while sealed. */
  async #answerUnaudited(call: Call): Promise<CoreResponse> {
    const { path } = call.match!;
    handlerOf(call);
    const decoded = path.decode(call.data, call.match!.captures);
    const deadline = new RequestDeadline(this.#parts.clock, call.request.signal);
    const response = await invoke(call, engineRequest(call, decoded, deadline), deadline);
    return answerOf(call, response, warningsOf(call, decoded, response));
  }

  /** Who calls, what the call really is, and whether they may. Resolves with the decoded fields, or with what is wrong with them. */
  async #authorize(call: Call): Promise<Decoded | EngineError | undefined> {
    const { authentication, unwrapDoor } = this.#parts;
    const declaration = call.match?.path.declaration;
    const open = declaration?.about.access === 'unauthenticated' || declaration?.about.login !== undefined;
    if (unwrapDoor.enter(call)) return decode(call);
    if (!open) await authentication.identify(call);
    const decoded = call.match && call.operation !== 'help' ? decode(call) : undefined;
    if (call.operation === 'update' && decoded && !(decoded instanceof EngineError)) await this.#settleCreate(call, decoded);
    if (open) return decoded;
    const verdict = call.acl!.check({
      operation: call.operation,
      path: call.path,
      data: call.data,
      wrapTtl: call.request.wrapTtl,
    });
    call.allowed = verdict.allowed && (declaration?.about.access !== 'sudo' || verdict.sudo);
    call.grantingPolicies = verdict.grantingPolicies;
    if (!call.allowed) throw new PermissionDenied();
    return decoded;
  }

  /** A write to what is not there is a create, and asks the policy for that. */
  async #settleCreate(call: Call, decoded: Decoded): Promise<void> {
    const { exists } = call.match!.path.declaration.operations;
    if (!exists || call.mount?.quarantine !== undefined) return;
    const deadline = new RequestDeadline(this.#parts.clock, call.request.signal);
    try {
      if (!(await exists(engineRequest(call, decoded, deadline)))) call.operation = 'create';
    } finally {
      deadline.clear();
    }
  }

  async #serve(call: Call, decoded: Decoded | EngineError | undefined): Promise<CoreResponse> {
    const { mount } = call;
    if (!mount || mount.tainted) throw new NotFound(`no handler for route ${JSON.stringify(call.path)}. route entry not found.`);
    if (mount.paused) throw new Unavailable(`the mount ${mount.path} is being changed; try again`);
    if (mount.quarantine !== undefined) throw new Unavailable(`the mount ${mount.path} is out of use: ${mount.quarantine}`);
    if (call.operation === 'help') return { ...emptyAnswer(call.id, 200), raw: helpFor(mount, call.match, call.path) };
    if (!call.match) return this.#unknownPath(call);
    handlerOf(call);
    if (decoded instanceof EngineError) throw decoded;
    const fields = decoded!;
    const deadline = new RequestDeadline(this.#parts.clock, call.request.signal);
    const request = engineRequest(call, fields, deadline);
    return mount.serve(async () => this.#issue(call, fields, request, deadline));
  }

  async #issue(call: Call, fields: Decoded, request: EngineRequest, deadline: RequestDeadline): Promise<CoreResponse> {
    const response = call.match!.path.declaration.about.login
      ? await this.#parts.logins.guard(call, fields, async () => invoke(call, request, deadline))
      : await invoke(call, request, deadline);
    let answer = answerOf(call, response, warningsOf(call, fields, response));
    if (response?.secret) answer = await this.#parts.issuing.secret(call, response.secret, answer);
    if (response?.auth) answer = await this.#parts.issuing.login(call, response.auth, answer);
    return this.#parts.wrapping.wrap(call, answer);
  }

  #unknownPath(call: Call): CoreResponse {
    const warning = call.mount?.engine?.unknownPathWarning;
    if (warning !== undefined) return { ...emptyAnswer(call.id, 404), warnings: [warning] };
    throw new UnsupportedPath();
  }
}

function decode(call: Call): Decoded | EngineError {
  try {
    return call.match!.path.decode(call.data, call.match!.captures);
  } catch (error) {
    if (error instanceof EngineError) return error;
    throw error;
  }
}

function warningsOf(call: Call, decoded: Decoded, response: EngineResponse | undefined): readonly string[] {
  if (!response || (decoded.unknown.length === 0 && decoded.replaced.length === 0)) return [];
  const warnings: string[] = [];
  if (decoded.unknown.length > 0 && !call.match!.path.declaration.about.arbitraryData) {
    warnings.push(`Endpoint ignored these unrecognized parameters: [${decoded.unknown.join(' ')}]`);
  }
  if (decoded.replaced.length > 0) {
    warnings.push(
      `Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [${decoded.replaced.join(' ')}]`,
    );
  }
  return warnings;
}
