import type { EngineError } from '@strongroom/engine-sdk';
import { auditedFailure, type AuditEntry } from '../services/audit/audit-entry.ts';
import { RequestNotAudited, ResponseNotAudited, type AuditBroker } from '../services/audit/audit-broker.ts';
import type { Call } from './call.ts';
import type { CoreResponse } from '../kernel/call/core-response.ts';

/** Tells the audit broker of calls in the broker's own terms. */
export class AuditTrail {
  readonly #broker: AuditBroker;

  constructor(broker: AuditBroker) {
    this.#broker = broker;
  }

  get enabled(): boolean {
    return this.#broker.enabled;
  }

  /** @throws RequestNotAudited: the call must not be carried out. */
  async request(call: Call): Promise<void> {
    await this.#broker.request(entryOf(call));
    call.requestAudited = true;
  }

  /** @throws ResponseNotAudited: the answer must not be sent. */
  async response(call: Call, answer: CoreResponse): Promise<void> {
    await this.#broker.response({
      ...entryOf(call),
      response: {
        data: answer.data,
        auth: answer.auth,
        leaseId: answer.leaseId,
        warnings: answer.warnings,
        wrapInfo: answer.wrapInfo,
        ...(answer.raw ? { raw: answer.raw } : {}),
      },
    });
  }

  /** A call that failed: its request, if that was not yet written, and its answer, both with the reason. */
  async refused(call: Call, failure: EngineError): Promise<void> {
    const { error, refusal } = auditedFailure(failure);
    const entry: AuditEntry = { ...entryOf(call), ...(error === undefined ? {} : { error }) };
    if (!call.requestAudited) await this.#broker.request(entry);
    await this.#broker.response({ ...entry, response: refusal === undefined ? {} : { refusal } });
  }

  isOwnFailure(thrown: unknown): boolean {
    return thrown instanceof RequestNotAudited || thrown instanceof ResponseNotAudited;
  }
}

function entryOf(call: Call): AuditEntry {
  const { request, mount, identity } = call;
  return {
    auth: {
      ...(identity ? { identity } : {}),
      ...(call.allowed === undefined ? {} : { allowed: call.allowed, grantingPolicies: call.grantingPolicies }),
    },
    request: {
      id: call.id,
      operation: call.operation,
      path: call.path,
      data: call.exactData ?? call.data,
      ...(call.bearer === undefined ? {} : { token: call.bearer }),
      ...(identity?.accessor ? { accessor: identity.accessor } : {}),
      ...(identity?.entityId ? { clientId: identity.entityId } : {}),
      ...(mount
        ? {
            mount: {
              point: mount.path,
              type: mount.type,
              class: mount.class,
              accessor: mount.accessor,
              ...(mount.record.config.audit_non_hmac_request_keys
                ? { readableRequestKeys: mount.record.config.audit_non_hmac_request_keys }
                : {}),
              ...(mount.record.config.audit_non_hmac_response_keys
                ? { readableResponseKeys: mount.record.config.audit_non_hmac_response_keys }
                : {}),
            },
          }
        : {}),
      ...(request.remoteAddress === undefined ? {} : { remoteAddress: request.remoteAddress }),
      ...(request.remotePort === undefined ? {} : { remotePort: request.remotePort }),
      ...(call.wrapTtl > 0 ? { wrapTtl: call.wrapTtl } : {}),
      ...(request.headers ? { headers: request.headers } : {}),
    },
  };
}
