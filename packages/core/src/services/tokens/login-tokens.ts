import { BadRequest, EngineError, TokenRefused, Unavailable, withinCidrs, type Clock, type IssuedAuth } from '@strongroom/engine-sdk';
import type { IdentityStore } from '../identity/identity-store.ts';
import { cappedWarning, limitTerms } from '../../kernel/mounts/lease-terms.ts';
import { requireIssuing } from '../../kernel/mounts/mount-record.ts';
import type { Mount } from '../../kernel/mounts/mount.ts';
import type { AuthReply, PendingAuth } from '../../kernel/call/core-response.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { LoginEnforcements, RequiredFactor } from '../mfa/login-enforcements.ts';
import type { MfaCredentials } from '../mfa/mfa-credentials.ts';
import type { SecondFactors } from '../mfa/second-factors.ts';
import type { WaitingLogins } from '../mfa/waiting-logins.ts';
import { policySet } from './policy-set.ts';
import { roleOfLogin, type TokenRecord } from './token-record.ts';
import type { TokenStore } from './token-store.ts';

/** A call to a login path. */
export interface LoginCall {
  readonly path: string;
  readonly remoteAddress: string;
  /** Second factors that came with the login itself. */
  readonly credentials: MfaCredentials | undefined;
}

/** What a login answers: a token, or what is still to be proven. */
export interface LoginResult {
  readonly auth: AuthReply | null;
  readonly pendingAuth?: PendingAuth;
  readonly warnings: readonly string[];
}

/** Room for one token: exactly one of the two is called. */
interface TokenRoom {
  readonly warnings: readonly string[];
  settle(): void;
  release(): void;
}

interface Parts {
  readonly store: Store;
  readonly tokens: TokenStore;
  readonly identity: IdentityStore;
  readonly clock: Clock;
  /** By its uuid. */
  readonly mount: (uuid: string) => Mount | undefined;
  /** Counts a login on the mount. */
  readonly counted: (mount: string, result: 'ok' | 'denied') => void;
  /** Reserves room for the token of a login that waited, under the caps on leases. @throws EngineError where there is none */
  readonly reserve: (login: { readonly mount: Mount; readonly path: string; readonly role: string }) => Promise<TokenRoom | undefined>;
  readonly mfa: { readonly enforcements: LoginEnforcements; readonly factors: SecondFactors; readonly waiting: WaitingLogins };
}

/** What must hold in the commit that makes the token. An error refuses the login, and what was counted is stored all the same. */
type Condition = (tx: StoreTransaction) => Promise<EngineError | undefined>;

/** Makes tokens of logins: at once, or once second factors are proven. */
export class LoginTokens {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Where second factors are required and none came with the login, it waits for them and there is no token yet. */
  async issue(mount: Mount, issued: IssuedAuth, call: LoginCall): Promise<LoginResult> {
    const { enforcements, factors } = this.#parts.mfa;
    checkGrant(mount, issued, call.remoteAddress);
    const entityId = issued.alias ? await this.#resolve(mount, issued, issued.alias) : '';
    const consume = async (tx: StoreTransaction): Promise<void> => mount.run(async () => issued.consume?.(mount.storage.within(tx)));
    const required = await enforcements.requiredOf({ mount, entityId });
    const { credentials } = call;
    const proof = credentials && required.length > 0 ? { entityId, required, credentials } : undefined;
    if (required.length > 0 && !proof) return this.#hold(mount, issued, { path: call.path, entityId, required, consume });
    return this.#make(mount, issued, {
      path: call.path,
      entityId,
      condition: async (tx) => {
        if (proof && (await factors.prove(tx, proof)) !== undefined) return new TokenRefused();
        await requireIssuing(tx, mount.uuid);
        await consume(tx);
        return undefined;
      },
    });
  }

  /**
   * Makes the token of a login that waits. What is required is decided again, so that an enforcement or entity that was changed meanwhile counts. A wrong
   * code leaves the login waiting.
   * @throws BadRequest for a request id that is unknown, used or too old, or whose user or role is gone
   * @throws TokenRefused that says what is not proven
   */
  async prove(requestId: string, call: Omit<LoginCall, 'path' | 'credentials'> & { credentials: MfaCredentials }): Promise<LoginResult> {
    const { waiting, enforcements, factors } = this.#parts.mfa;
    const login = await waiting.get(requestId);
    const mount = login && this.#parts.mount(login.mount);
    if (!login || !mount) throw unknownRequest();
    const { path, auth } = login;
    checkGrant(mount, auth, call.remoteAddress);
    const entityId = login.entity_id === '' ? '' : await this.#entityNow(login.entity_id);
    const required = await enforcements.requiredOf({ mount, entityId });
    const stored = tokenType(mount, auth.terms.type) === 'service';
    const room = stored ? await this.#parts.reserve({ mount, path, role: roleOfLogin({ meta: auth.metadata }) }) : undefined;
    const make = this.#make(mount, auth, {
      path,
      entityId,
      condition: async (tx) => {
        const held = await waiting.get(requestId, tx);
        if (!held) return unknownRequest();
        if (!(await stillGranted(mount, auth, tx))) {
          waiting.remove(tx, requestId, held);
          return unknownRequest();
        }
        const refusal = await factors.prove(tx, { entityId, required, credentials: call.credentials });
        if (refusal !== undefined) return new TokenRefused(refusal);
        await requireIssuing(tx, mount.uuid);
        waiting.remove(tx, requestId, held);
        return undefined;
      },
    });
    try {
      const made = await make;
      room?.settle();
      return room ? { ...made, warnings: [...made.warnings, ...room.warnings] } : made;
    } catch (error) {
      room?.release();
      if (error instanceof EngineError && error.status < 500) this.#parts.counted(mount.uuid, 'denied');
      throw error;
    }
  }

  async #hold(
    mount: Mount,
    issued: IssuedAuth,
    login: {
      readonly path: string;
      readonly entityId: string;
      readonly required: readonly RequiredFactor[];
      readonly consume: (tx: StoreTransaction) => Promise<void>;
    },
  ): Promise<LoginResult> {
    const { store, mfa } = this.#parts;
    const requestId = await store.transaction(async (tx) => {
      await requireIssuing(tx, mount.uuid);
      await login.consume(tx);
      return mfa.waiting.hold(tx, { mount: mount.uuid, path: login.path, entityId: login.entityId, auth: issued });
    });
    return { auth: null, pendingAuth: pendingAuth(requestId, login.required), warnings: [NEEDS_MFA] };
  }

  async #make(
    mount: Mount,
    issued: IssuedAuth,
    { path, entityId, condition }: { readonly path: string; readonly entityId: string; readonly condition: Condition },
  ): Promise<LoginResult> {
    const { store, tokens, identity, clock } = this.#parts;
    const { terms } = issued;
    const policies = policySet(issued.policies, terms.noDefaultPolicy);
    const now = clock.millis();
    const limited = limitTerms(mount, { ttl: terms.period > 0 ? terms.period : terms.ttl, maxTtl: terms.period > 0 ? 0 : terms.maxTtl });
    const warnings = [...limited.warnings];
    let { ttl } = limited;
    if (terms.explicitMaxTtl > 0 && ttl > terms.explicitMaxTtl) {
      warnings.push(cappedWarning(ttl, terms.explicitMaxTtl));
      ttl = terms.explicitMaxTtl;
    }
    const type = tokenType(mount, terms.type);
    const meta = Object.keys(issued.metadata).length > 0 ? { ...issued.metadata } : undefined;
    const mountName = mount.path.slice('auth/'.length, -1).replaceAll('/', '-');
    const displayName = issued.displayName === '' ? mountName : `${mountName}-${issued.displayName}`;
    const shared = {
      path,
      policies,
      ...(meta ? { meta } : {}),
      display_name: displayName,
      ...(entityId === '' ? {} : { entity_id: entityId }),
      created: now,
      expires: now + ttl * 1_000,
      creation_ttl: ttl,
      ...(terms.boundCidrs.length > 0 ? { bound_cidrs: [...terms.boundCidrs] } : {}),
      ...(terms.noDefaultPolicy ? { no_default_policy: true } : {}),
    };
    const record: Omit<TokenRecord, 'accessor'> = {
      ...shared,
      renewable: terms.renewable,
      max_ttl: limited.maxTtl,
      ...(terms.explicitMaxTtl > 0 ? { explicit_max_ttl: terms.explicitMaxTtl } : {}),
      ...(terms.period > 0 ? { period: terms.period } : {}),
      ...(terms.numUses > 0 ? { num_uses: terms.numUses } : {}),
      mount: mount.uuid,
      ...(issued.internal ? { internal: { ...issued.internal } } : {}),
    };
    const made = await store.transaction(async (tx) => {
      const refusal = await condition(tx);
      if (refusal) return { refusal };
      return type === 'batch' ? { token: '', accessor: '' } : serviceToken(tokens.create(tx, record));
    });
    if ('refusal' in made) throw made.refusal;
    this.#parts.counted(mount.uuid, 'ok');
    const entityPolicies = entityId === '' ? [] : ((await identity.policiesOf(entityId))?.policies ?? []);
    const identityPolicies = entityPolicies.filter((name) => !policies.includes(name));
    const auth: AuthReply = {
      client_token: type === 'batch' ? tokens.makeBatch(shared) : made.token,
      accessor: made.accessor,
      policies: [...new Set([...policies, ...identityPolicies])].sort(),
      token_policies: policies,
      ...(identityPolicies.length > 0 ? { identity_policies: [...identityPolicies] } : {}),
      metadata: meta ?? null,
      lease_duration: ttl,
      renewable: type === 'service' && terms.renewable,
      entity_id: entityId,
      token_type: type,
      orphan: true,
      mfa_requirement: null,
      num_uses: terms.numUses,
    };
    return { auth, warnings };
  }

  async #resolve(mount: Mount, issued: IssuedAuth, alias: NonNullable<IssuedAuth['alias']>): Promise<string> {
    const { entityId } = await this.#parts.identity.resolveLogin({
      mountAccessor: mount.accessor,
      alias,
      ...(issued.groupAliases ? { groupAliases: issued.groupAliases } : {}),
    });
    await this.#requireEnabled(entityId);
    return entityId;
  }

  /** The entity of a login that waited. @throws TokenRefused where it is gone or disabled */
  async #entityNow(entityId: string): Promise<string> {
    const current = await this.#parts.identity.currentId(entityId);
    if (current === undefined) throw new TokenRefused();
    await this.#requireEnabled(current);
    return current;
  }

  async #requireEnabled(entityId: string): Promise<void> {
    const entity = await this.#parts.identity.policiesOf(entityId);
    if (entity?.disabled) throw new TokenRefused();
  }
}

const NEEDS_MFA =
  'A login request was issued that is subject to MFA validation. Please make sure to validate the login by sending another request to mfa/validate endpoint.';

async function stillGranted(mount: Mount, { internal = {} }: Pick<IssuedAuth, 'internal'>, tx: StoreTransaction): Promise<boolean> {
  const { engine } = mount;
  if (!engine) throw new Unavailable(`the mount ${mount.path} does not run`);
  return mount.run(async () => (await engine.stillGrants?.(internal, mount.storage.within(tx))) ?? true);
}

function unknownRequest(): BadRequest {
  return new BadRequest('invalid request ID');
}

/** @throws TokenRefused | BadRequest */
function checkGrant(mount: Mount, { terms, policies }: IssuedAuth, remoteAddress: string): void {
  if (!withinCidrs(terms.boundCidrs, remoteAddress)) throw new TokenRefused();
  if (policySet(policies, terms.noDefaultPolicy).includes('root')) throw new BadRequest('auth methods cannot create root tokens');
  if (tokenType(mount, terms.type) === 'batch' && terms.numUses > 0)
    throw new BadRequest('batch tokens cannot have "num_uses" set: set token_num_uses to 0, or token_type to service');
}

/** What a login on the mount makes: the tuning of the mount decides, and what the role asks for. */
export function tokenType(mount: Mount, asked: IssuedAuth['terms']['type']): 'service' | 'batch' {
  const tuned = mount.record.config.token_type ?? 'default-service';
  if (tuned === 'batch' || tuned === 'service') return tuned;
  if (asked === 'batch' || asked === 'default-batch') return 'batch';
  if (asked === 'service' || asked === 'default-service') return 'service';
  return tuned === 'default-batch' ? 'batch' : 'service';
}

function serviceToken({ token, record }: { token: string; record: TokenRecord }): { token: string; accessor: string } {
  return { token, accessor: record.accessor };
}

function pendingAuth(requestId: string, required: readonly RequiredFactor[]): PendingAuth {
  const any = ({ methods }: RequiredFactor) => ({
    any: methods.map(({ id, name }) => ({ type: 'totp' as const, id, uses_passcode: true, name })),
  });
  return {
    client_token: '',
    accessor: '',
    policies: null,
    metadata: null,
    lease_duration: 0,
    renewable: false,
    entity_id: '',
    token_type: 'default',
    orphan: false,
    mfa_requirement: {
      mfa_request_id: requestId,
      mfa_constraints: Object.fromEntries(required.map((factor) => [factor.enforcement.name, any(factor)])),
    },
    num_uses: 0,
  };
}
