import type { CoreResponse } from '@strongroom/core';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import { codeAt } from '../../wire/otp.ts';
import { gateLogin, type Grant } from '../tokens/gate-engine.ts';

/** What a login answers, in words: a token, a request id, or why not. */
export interface Tried {
  readonly token?: string;
  readonly requestId?: string;
  /** Status and texts where there is neither. */
  readonly refused?: string;
  readonly answer: CoreResponse;
}

export interface MfaWorld extends Omit<TestMount, 'write'> {
  readonly grant: Grant;
  readonly accessor: string;
  /** By the root token; fails the test with the answer's texts. */
  write(path: string, data?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** Makes a method; its id. */
  method(fields?: Record<string, unknown>): Promise<string>;
  /** The id of the entity that the next login of the gate is for. */
  entityOf(user: string): Promise<string>;
  /** Gives the entity a secret; the authenticator that has it, which shows the code of now, or of some periods off. */
  authenticator(methodId: string, entityId: string): Promise<(off?: number) => string>;
  login(options?: { header?: string | readonly string[]; wrapTtl?: number; remoteAddress?: string }): Promise<Tried>;
  validate(requestId: string, payload: Record<string, unknown>, options?: { wrapTtl?: number; remoteAddress?: string }): Promise<Tried>;
}

/** A core with a login method that lets everybody in, so that only second factors keep anybody out. */
export async function mfaWorld(options: TestMountOptions = {}, gate = gateLogin()): Promise<MfaWorld> {
  const { plugin, grant } = gate;
  const mount = await mountForTest(plugin, options);
  const write = async (path: string, data: Record<string, unknown> = {}): Promise<Record<string, unknown>> => {
    const { status, errors, data: answer } = await mount.call('update', path, { data });
    if (status >= 400) throw new Error(`${path}: ${status} ${String(errors)}`);
    return (answer ?? {}) as Record<string, unknown>;
  };
  const mounts = (await mount.call('read', 'sys/auth')).data as Record<string, { accessor: string }>;
  const { accessor } = mounts['gate/']!;
  return {
    ...mount,
    grant,
    accessor,
    write,
    method: async (fields = {}) => (await write('identity/mfa/method/totp', { issuer: 'Test', ...fields }))['method_id'] as string,
    async entityOf(user) {
      grant.user = user;
      const found = await write('identity/lookup/entity', { alias_name: user, alias_mount_accessor: accessor });
      return (found['id'] ?? (await write('identity/entity-alias', { name: user, mount_accessor: accessor }))['canonical_id']) as string;
    },
    async authenticator(methodId, entityId) {
      const { url } = await write('identity/mfa/method/totp/admin-generate', { method_id: methodId, entity_id: entityId });
      const period = Number(new URL(url as string).searchParams.get('period')) * 1_000;
      return (off = 0) => codeAt(url as string, mount.clock.millis() + off * period);
    },
    login: async ({ header, wrapTtl, remoteAddress = '127.0.0.1' } = {}) =>
      tried(
        await mount.core.handle({
          operation: 'update',
          path: 'auth/gate/login',
          remoteAddress,
          ...(header === undefined ? {} : { headers: { 'x-vault-mfa': header } }),
          ...(wrapTtl === undefined ? {} : { wrapTtl }),
        }),
      ),
    validate: async (requestId, payload, rest = {}) =>
      tried(
        await mount.call('update', 'sys/mfa/validate', { token: '', data: { mfa_request_id: requestId, mfa_payload: payload }, ...rest }),
      ),
  };
}

function tried(answer: CoreResponse): Tried {
  const token = answer.auth?.client_token;
  const requestId = answer.pendingAuth?.mfa_requirement.mfa_request_id;
  if (token) return { token, answer };
  if (requestId) return { requestId, answer };
  return { refused: `${answer.status} ${(answer.errors ?? []).join('; ')}`, answer };
}
