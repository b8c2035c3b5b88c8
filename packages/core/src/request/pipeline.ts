import {
  EngineError,
  NotFound,
  PermissionDenied,
  traced,
  Unavailable,
  UnsupportedOperation,
  UnsupportedPath,
  type Clock,
  type Decoded,
  type EngineRequest,
  type EngineResponse,
  type Log,
  type Op,
  type Tracer,
} from '@strongroom/engine-sdk';
import type { TProperties, TSchema } from 'typebox';
import type { Figures } from '../services/figures/figures.ts';
import type { RepeatOrder } from '../services/leases/repeats.ts';
import { beingRemoved } from '../kernel/mounts/mount-record.ts';
import type { MountFinder } from '../kernel/mounts/canonical-path.ts';
import type { Mount } from '../kernel/mounts/mount.ts';
import { helpFor } from '../services/documents/help.ts';
import type { ChangesInStep } from '../kernel/changes-in-step.ts';
import type { Copies } from '../kernel/storage/copies.ts';
import type { UnwrapDoor } from './unwrap-door.ts';
import type { Wrapping } from '../services/wrapping/wrapping.ts';
import { admit } from './admission.ts';
import { answerOf } from './answer.ts';
import type { AuditTrail } from './audit-trail.ts';
import type { Authentication } from './authentication.ts';
import { newCall, type Call } from './call.ts';
import type { AnsweredCall } from '../kernel/call/answered-call.ts';
import type { CallsUnderWay } from '../kernel/call/calls-under-way.ts';
import type { CoreRequest } from '../kernel/call/core-request.ts';
import { emptyResponse, type CoreResponse } from '../kernel/call/core-response.ts';
import { decode, isWrite } from './decoding.ts';
import { failedResponse, Failures } from './failure.ts';
import { engineRequest, operationOf } from './invocation.ts';
import { ignoredFields, misspeltFields } from './ignored-fields.ts';
import type { Issuing } from './issuing.ts';
import { mayHideKeys, withoutHiddenKeys } from './listed-keys.ts';
import type { LoginGuard } from './login-guard.ts';
import { OpenPathRefusal } from './open-path-refusal.ts';
import { cutPage, limitPage } from './page-limit.ts';
import { RequestDeadline } from './request-deadline.ts';
import type { QuotaGate } from './quota-gate.ts';
import type { RepeatedCalls } from './repeated-calls.ts';
import { newRequestId } from './request-id.ts';
import { inRequestSpan } from './request-span.ts';
import type { Routing } from './routing.ts';

export interface PipelineParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly tracer: Tracer | undefined;
  readonly underWay: CallsUnderWay;
  readonly copies: Copies;
  readonly changesInStep: ChangesInStep;
  readonly mounts: MountFinder;
  readonly routing: Routing;
  readonly authentication: Authentication;
  readonly quotas: QuotaGate;
  readonly logins: LoginGuard;
  readonly issuing: Issuing;
  readonly repeats: RepeatedCalls;
  readonly wrapping: Wrapping;
  readonly unwrapDoor: UnwrapDoor;
  readonly audit: AuditTrail;
  /** See CoreOptions. */
  readonly onAnswer: ((answered: AnsweredCall) => void) | undefined;
  readonly figures: Figures;
}

/**
 * The way of a request, from top to bottom: admission, routing, quotas, authentication, existence (create or update), authorization, audit,
 * decoding, the engine, issuing (leases, tokens), wrapping, audit of the answer.
 */
export class Pipeline {
  readonly #parts: PipelineParts;
  readonly #failures: Failures;

  constructor(parts: PipelineParts) {
    this.#parts = parts;
    this.#failures = new Failures(parts);
  }

  /** Never throws. */
  handle(request: CoreRequest): Promise<CoreResponse> {
    const { clock, tracer } = this.#parts;
    const call = newCall(newRequestId(), request, clock.millis());
    return tracer ? inRequestSpan(tracer, call, () => this.#timed(call)) : this.#timed(call);
  }

  async #timed(call: Call): Promise<CoreResponse> {
    const { figures, underWay, changesInStep } = this.#parts;
    const began = performance.now();
    const entry = underWay.begin(call);
    const answer = await this.#answer(call);
    const applied = READING.has(call.operation) ? undefined : changesInStep.applied;
    if (applied) await applied;
    underWay.end(entry);
    call.answered = true;
    if (!answer.stream) await call.stream?.cancel?.();
    const millis = performance.now() - began;
    figures.sampler.observe(answer.status, millis);
    const login = call.match?.path.declaration.about.login !== undefined;
    figures.timings.answered({ operation: call.operation, mount: call.mount?.uuid, login, status: answer.status, millis });
    return answer;
  }

  async #answer(call: Call): Promise<CoreResponse> {
    const { routing } = this.#parts;
    try {
      const answer = await (routing.alwaysOpen(call) ? this.#answerUnaudited(call) : this.#carryOut(call));
      return call.headers ? { ...answer, headers: { ...call.headers, ...answer.headers } } : answer;
    } catch (error) {
      return this.#failed(call, this.#failures.of(error, call.id));
    }
  }

  /** Seal status, health and the like: open to all, also while sealed. */
  async #answerUnaudited(call: Call): Promise<CoreResponse> {
    admit(call);
    this.#parts.wrapping.admit(call);
    if (this.#parts.quotas.limitsRates) await this.#parts.quotas.enter(call);
    // HEAD is a read whose body stays behind in the adapter.
    if (call.operation === 'header') call.operation = 'read';
    const op = operationOf(call);
    if (!op) throw new UnsupportedOperation('');
    const decoded = call.match!.path.decode(call.data, call.match!.captures, isWrite(call), call.exactData);
    const deadline = this.#deadline(call);
    const request = engineRequest(call, decoded, deadline);
    const response = await deadline.guard(async () => handled(call, op.handle(request)));
    return this.#answered(call, op, answerOf(call, response, ignoredFields(call, decoded, response !== undefined)));
  }

  async #carryOut(call: Call): Promise<CoreResponse> {
    const { routing, audit, tracer, copies, figures } = this.#parts;
    const { timings } = figures;
    const { epoch } = copies;
    try {
      copies.require();
      admit(call);
      this.#parts.wrapping.admit(call);
      routing.find(call);
      if (this.#parts.quotas.limitsRates) await this.#parts.quotas.enter(call);
      const decoded = await (tracer ? traced(tracer, 'authorize', () => this.#authorize(call)) : this.#authorize(call));
      if (audit.enabled) await timings.time('audit_request', () => traced(tracer, 'audit request', () => audit.request(call)));
      copies.stillIn(epoch);
      const answer = await this.#serve(call, decoded);
      if (!call.replacesStore) copies.stillIn(epoch);
      if (audit.enabled) await timings.time('audit_response', () => traced(tracer, 'audit response', () => audit.response(call, answer)));
      return answer;
    } catch (error) {
      const failure = this.#failures.of((call.replacesStore ? undefined : copies.reasonAgainst(epoch)) ?? error, call.id);
      if (audit.enabled && !audit.isOwnFailure(error) && this.#parts.quotas.audits(error)) await audit.refused(call, failure);
      return this.#failed(call, failure);
    } finally {
      if (call.lastUse) await this.#parts.authentication.finish(call);
    }
  }

  /** Who calls, what the call really is, and whether they may. Resolves with the decoded fields, or with what is wrong with them. */
  async #authorize(call: Call): Promise<Decoded | EngineError | undefined> {
    const { authentication, tracer, unwrapDoor } = this.#parts;
    const open = isOpen(call);
    if (unwrapDoor.enter(call)) return decode(call);
    if (!open) {
      const identified = this.#parts.figures.timings.time('check_token', () =>
        tracer ? traced(tracer, 'check token', async () => authentication.identify(call)) : authentication.identify(call),
      );
      if (identified) await identified;
    }
    const decoded = call.match && call.operation !== 'help' ? decode(call) : undefined;
    const readable = decoded && !(decoded instanceof EngineError) ? decoded : undefined;
    if (call.operation === 'update' && readable) await this.#settleCreate(call, readable);
    if (open) return decoded;
    const verdict = call.acl!.check({
      operation: call.operation,
      path: call.path,
      folds: call.folds,
      data: call.data,
      names: call.match?.path.names,
      wrapTtl: call.wrapTtl,
    });
    call.allowed = verdict.allowed && (call.match?.path.declaration.about.access !== 'sudo' || verdict.sudo || call.operation === 'help');
    call.grantingPolicies = verdict.grantingPolicies;
    call.sudo = verdict.allowed && verdict.sudo;
    if (!call.allowed) throw new PermissionDenied();
    call.pageLimit = verdict.paginationLimit;
    call.keysFilters = verdict.keysFilters;
    if (call.pageLimit > 0 && readable) limitPage(call, readable);
    return decoded;
  }

  /** A write to what is not there is a create, and asks the policy for that. */
  async #settleCreate(call: Call, decoded: Decoded): Promise<void> {
    const { exists } = call.match!.path.declaration.operations;
    if (!exists || call.mount!.quarantine !== undefined) return;
    const deadline = this.#deadline(call);
    const request = engineRequest(call, decoded, deadline);
    const { mount } = call;
    if (!(await deadline.guard(async () => mount!.run(async () => exists(request))))) call.operation = 'create';
  }

  async #serve(call: Call, decoded: Decoded | EngineError | undefined): Promise<CoreResponse> {
    const { mount } = call;
    if (!mount) throw new NotFound(`no handler for route ${JSON.stringify(call.path)}. route entry not found.`);
    if (mount.ending.reason) throw mount.ending.reason;
    if (mount.paused) throw new Unavailable(`the mount ${mount.path} is being changed; try again`);
    if (mount.quarantine !== undefined) throw new Unavailable(`the mount ${mount.path} is quarantined: ${mount.quarantine}`);
    if (!mount.engine) throw new Unavailable(`the mount ${mount.path} is being started`);
    if (call.operation === 'help') return { ...emptyResponse(call.id, 200), raw: helpFor(mount, call.match, call.path) };
    if (!call.match) return this.#unknownPath(call);
    const op = operationOf(call);
    if (!op) throw isOpen(call) ? new OpenPathRefusal() : new UnsupportedOperation();
    if (mount.removing && (call.match.path.declaration.about.login || op.oncePerKey)) throw beingRemoved(mount.path);
    if (decoded instanceof EngineError) throw decoded;
    return mount.serve(() => this.#carryOutOn(mount, call, op, decoded!));
  }

  async #carryOutOn(mount: Mount, call: Call, op: Op<TProperties, TSchema>, fields: Decoded): Promise<CoreResponse> {
    const { repeats, wrapping } = this.#parts;
    const order = repeats.orderOf(call, op, fields);
    const made = order
      ? await repeats.once(call, order, async () => this.#make(mount, call, op, fields, order))
      : await this.#make(mount, call, op, fields);
    const whole = this.#answered(call, op, made!);
    const shown = mayHideKeys(call) ? await this.#shown(mount, call, op, fields, whole) : whole;
    const answer = call.pageLimit > 0 ? cutPage(call, shown) : shown;
    return call.wrapTtl > 0 ? { ...(await wrapping.wrap(call, answer)), callId: call.id } : answer;
  }

  #shown(mount: Mount, call: Call, op: Op<TProperties, TSchema>, fields: Decoded, answer: CoreResponse): Promise<CoreResponse> {
    return withoutHiddenKeys(call, answer, {
      mounts: this.#parts.mounts,
      limit: fields.data['limit'] ?? call.data['limit'],
      next: async (page) => {
        const further = { ...call, data: { ...call.data, ...page }, exactData: undefined };
        return (await this.#make(mount, further, op, { ...fields, data: { ...fields.data, ...page } }))!;
      },
    });
  }

  /** Undefined where another call with the same idempotency key was faster. */
  async #make(
    mount: Mount,
    call: Call,
    op: Op<TProperties, TSchema>,
    fields: Decoded,
    order?: RepeatOrder,
  ): Promise<CoreResponse | undefined> {
    const { logins, quotas, issuing, tracer } = this.#parts;
    const deadline = this.#deadline(call);
    const work = (countAs?: EngineRequest['countAs']): Promise<EngineResponse | undefined> => {
      const request = engineRequest(call, fields, deadline, countAs);
      // A handler that goes on after the deadline still counts as work on the mount.
      const handle = (): Promise<EngineResponse | undefined> =>
        deadline.guard(() => mount.serve(() => mount.run(() => handled(call, op.handle(request)))));
      return tracer ? traced(tracer, 'engine', handle, { attributes: { 'strongroom.mount.type': mount.type } }) : handle();
    };
    return quotas.leaseFor(call, mayIssue(call, op), async (room) => {
      const isLogin = call.match!.path.declaration.about.login !== undefined;
      const response = isLogin ? await this.#refusalsCounted(mount, async () => logins.guard(call, fields, deadline, work)) : await work();
      const answer = answerOf(call, response, ignoredFields(call, fields, response !== undefined));
      const { auth, secret } = response ?? {};
      if (secret) return traced(tracer, 'issue lease', () => issuing.secret(call, secret, answer, room, order));
      if (auth) return this.#refusalsCounted(mount, () => traced(tracer, 'issue token', () => issuing.login(call, auth, answer, room)));
      return answer;
    });
  }

  #answered(call: Call, op: Op<TProperties, TSchema>, answer: CoreResponse): CoreResponse {
    const { operation, path, match, mount } = call;
    this.#parts.onAnswer?.({ operation, path, mount: mount?.path ?? '', declaration: match!.path.declaration, op, answer });
    return answer;
  }

  #failed(call: Call, failure: EngineError): CoreResponse {
    const answer = failedResponse(call.id, failure, failure.status === 400 && call.allowed !== false ? misspeltFields(call) : []);
    const op = call.match && operationOf(call);
    return op ? this.#answered(call, op, answer) : answer;
  }

  /** Counts a login that is refused, or that the outside system behind it did not let happen. */
  async #refusalsCounted<T>(mount: Mount, login: () => Promise<T>): Promise<T> {
    try {
      return await login();
    } catch (error) {
      const refused = error instanceof EngineError && error.status < 500;
      const { counters, denied } = this.#parts.figures;
      counters.count(mount.uuid, refused ? 'logins_denied' : 'logins_failed');
      if (refused) denied.count(mount.uuid);
      throw error;
    }
  }

  #unknownPath(call: Call): CoreResponse {
    const warning = call.mount?.engine?.unknownPathWarning;
    if (warning !== undefined) return { ...emptyResponse(call.id, 404), warnings: [warning] };
    throw new UnsupportedPath();
  }

  #deadline(call: Call): RequestDeadline {
    const { mount } = call;
    const untimed = call.match !== undefined && operationOf(call)?.untimed === true;
    const end = mount && { ending: mount.ending, finishes: mount.owner === undefined };
    return new RequestDeadline(this.#parts.clock, call.request, end, untimed);
  }
}

/** The response of a handler. A body to be streamed is known from here on, so that it ends where it is not sent. */
function handled(call: Call, handling: Promise<EngineResponse | undefined>): Promise<EngineResponse | undefined> {
  return handling.then((response) => {
    if (!call.answered) call.stream = response?.stream;
    else if (response?.stream?.cancel) return response.stream.cancel().then(() => response);
    return response;
  });
}

/** Whether the path asks for no token. */
const READING: ReadonlySet<Call['operation']> = new Set(['read', 'list', 'header', 'help']);

function isOpen(call: Call): boolean {
  const about = call.match?.path.declaration.about;
  return about?.access === 'unauthenticated' || about?.login !== undefined;
}

/**
 * Whether the call declares that it issues a lease or a token: what there is no room for is not begun. Others learn it when they are done. Logins are among them: until
 * its caller is known, a login must not take the room of others.
 */
function mayIssue(call: Call, op: Op<TProperties, TSchema>): boolean {
  return op.oncePerKey === true || (call.mount?.path === 'auth/token/' && call.rest.startsWith('create'));
}
