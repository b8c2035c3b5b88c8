import { checkedCore, manualClock, type ManualClock } from '@strongroom/engine-testkit';
import { memoryStorage } from '@strongroom/storage-sdk';
import type { Core, CoreResponse } from '../../../src/index.ts';
import { addressWithin, covers, within } from './address-blocks.ts';
import { POLICIES, SEALED, USERS, type CreateStep, type LoginStep, type RoleOrder, type Step } from './delegation-steps.ts';
import { gateLogin } from './gate-engine.ts';

/** Seconds; what the core has by default. */
const SYSTEM_MAX = 2_764_800;
const LOGIN_FROM = '10.1.1.1';

/** A token as it was seen when it was made, and what its line leaves it. Times are milliseconds since the epoch. */
interface Known {
  readonly token: string;
  readonly batch: boolean;
  readonly policies: readonly string[];
  /** With those of its entity. */
  readonly powers: readonly string[];
  readonly cidrs: readonly string[];
  readonly entityId: string;
  readonly numUses: number;
  readonly periodic: boolean;
  readonly maker: Known | undefined;
  /** Explicit maximum of the token, and of all in whose line it was made. */
  readonly hardEnd: number;
  /** The longest life that the law allows it. */
  readonly longestEnd: number;
  /** At the latest, until it is renewed. */
  expires: number;
  /** Ends with its maker. */
  child: boolean;
  revoked: boolean;
}

/** What was made how often, so that a law under which nothing is made is not taken for kept. */
export type Tally = Map<string, number>;

class LawBroken extends Error {
  override readonly name = 'LawBroken';
}

/** Walks a chain of creations through a core, and holds each token that is made against its maker. */
export class DelegationWorld {
  readonly #core: Core;
  readonly #clock: ManualClock;
  readonly #gate: ReturnType<typeof gateLogin>;
  readonly #roles: readonly RoleOrder[];
  readonly #tally: Tally;
  readonly #known: Known[];
  #ids = 0;

  private constructor(parts: {
    core: Core;
    clock: ManualClock;
    gate: ReturnType<typeof gateLogin>;
    roles: readonly RoleOrder[];
    tally: Tally;
  }) {
    this.#core = parts.core;
    this.#clock = parts.clock;
    this.#gate = parts.gate;
    this.#roles = parts.roles;
    this.#tally = parts.tally;
    const root = {
      token: 'root',
      policies: ['root'],
      powers: ['root'],
      cidrs: [],
      entityId: '',
      numUses: 0,
      batch: false,
      periodic: false,
    };
    this.#known = [{ ...root, maker: undefined, hardEnd: Infinity, longestEnd: Infinity, expires: Infinity, child: false, revoked: false }];
  }

  static async open(roles: readonly RoleOrder[], tally: Tally): Promise<DelegationWorld> {
    const clock = manualClock();
    const gate = gateLogin();
    const core = await checkedCore({ storage: memoryStorage(), plugins: [gate.plugin], devRootToken: 'root', clock });
    const world = new DelegationWorld({ core, clock, gate, roles, tally });
    const self = 'path "auth/token/lookup-self" { capabilities = ["read"] } path "auth/token/renew-self" { capabilities = ["update"] }';
    for (const [name, policy] of Object.entries(POLICIES)) await world.#write(`sys/policies/acl/${name}`, { policy: `${policy} ${self}` });
    await world.#write('sys/auth/gate', { type: 'gate' });
    for (const [number, role] of roles.entries()) {
      const written = await core.handle({ operation: 'update', path: `auth/token/roles/r${number}`, data: { ...role }, token: 'root' });
      // A role that contradicts itself is refused; steps that name it are refused then.
      if (written.errors && written.status !== 400) throw new Error(written.errors.join('; '));
    }
    for (const [user, policies] of Object.entries(USERS)) {
      gate.grant.user = user;
      const { entity_id: id } = (await world.#write('auth/gate/login', {})).auth!;
      await world.#write(`identity/entity/id/${id}`, { policies });
    }
    return world;
  }

  async close(): Promise<void> {
    await this.#core.close();
  }

  async take(step: Step): Promise<void> {
    switch (step.kind) {
      case 'create':
        return this.#create(step);
      case 'login':
        return this.#login(step);
      case 'renew':
        return this.#renew(this.#pick(step.token), step.increment);
      case 'revoke':
        return this.#revoke(this.#pick(step.token), step.orphanChildren);
      case 'advance':
        await this.#clock.advance(step.seconds);
        return this.#core.settleSchedule();
    }
  }

  /** No token lives on when it, its line or its limits have ended. */
  async checkLives(): Promise<void> {
    for (const known of this.#known) {
      if (!this.#ended(known) || !(await this.#worksFrom(known, addressWithin(known.cidrs)))) continue;
      throw new LawBroken(`a token lives on after its end: ${JSON.stringify(known)}`);
    }
  }

  async #create(step: CreateStep): Promise<void> {
    const maker = this.#pickMaker(step.maker);
    const number = typeof step.at === 'number' ? step.at % this.#roles.length : undefined;
    const role = number === undefined ? undefined : this.#roles[number];
    const path = number === undefined ? String(step.at) : `create/r${number}`;
    const order: Record<string, unknown> = { ...step.order };
    if (order['id'] !== undefined) order['id'] = `chosen-${(this.#ids += 1)}`;
    const orphan = path === 'create-orphan' || order['no_parent'] === true || role?.orphan === true;
    const how = role ? (role.orphan ? 'by an orphan role' : 'by a role') : orphan ? 'orphan' : 'child';
    this.#count('creations');
    const answer = await this.#call(`auth/token/${path}`, maker, order, step.wrapTtl);
    const sudo = hasSudo(maker, path);
    const law = (kept: boolean, text: string): void => {
      if (!kept) throw new LawBroken(`${text}: ${JSON.stringify({ path, order, role, sudo, maker, answer })}`);
    };
    law(answer.status < 500, 'the server failed');
    if (answer.errors) {
      // A root token that ends must name an end for another one.
      const able = !maker.batch && (maker.powers.includes('root') ? maker.expires === Infinity : hasAny(maker, ['maker', 'chief']));
      const plain = Object.keys(order).length === 0 && path === 'create' && !isSealed(maker);
      law(!able || !plain, 'a plain child was refused');
      return this.#count(`${how}, refused`);
    }
    law(!maker.batch, 'a batch token made a token');
    law(
      path !== 'create' || !isSealed(maker) || isWithin(answer.wrapInfo?.ttl, SEALED),
      'an answer escaped the wrapping that the policy asks for',
    );
    const auth = await this.#unwrapped(answer, step.wrapTtl);
    const outlives = !orphan || role?.orphan === true || (sudo && !auth.policies.includes('root'));
    const made = await this.#look(auth.client_token, {
      maker,
      child: !orphan,
      most: outlives ? Infinity : maker.longestEnd,
      renewals: SYSTEM_MAX,
    });
    this.#countKinds(how, made);
    for (const policy of made.policies) {
      law(
        maker.policies.includes('root') || maker.policies.includes(policy) || (policy !== 'root' && (sudo || names(role, policy))),
        `${policy} is neither the maker's nor named by a role`,
      );
      law(!role?.disallowed_policies?.includes(policy), `${policy} is disallowed by the role`);
    }
    for (const bound of [maker.cidrs, role?.token_bound_cidrs ?? [], (order['bound_cidrs'] as string[] | undefined) ?? []]) {
      law(bound.length === 0 || isBound(made, bound), `a token is not bound to ${bound.join(', ')}`);
    }
    if (await this.#worksFrom(made, step.probe))
      law(within(step.probe, maker.cidrs), `a token works from ${step.probe}, where its maker does not`);
    law(made.expires <= Math.min(made.hardEnd, made.longestEnd), 'a token lives longer than its line allows');
    law(!made.periodic || sudo || (role?.token_period ?? 0) > 0, 'a caller without sudo made a periodic token');
    law(order['id'] === undefined || sudo, 'a caller without sudo chose the token itself');
    law(
      order['no_parent'] !== true || sudo || path === 'create-orphan' || role?.orphan === true,
      'a caller without sudo made an orphan of a child',
    );
    law(
      !role?.token_num_uses || isWithin(made.numUses, { least: 1, most: role.token_num_uses }),
      'a token has more uses than its role gives',
    );
    law(
      ['', maker.entityId].includes(made.entityId) || role?.allowed_entity_aliases !== undefined,
      'a token is of an entity that its maker is not of',
    );
    await this.#keep(made, law);
  }

  async #login({ user, policies, terms, wrapTtl }: LoginStep): Promise<void> {
    Object.assign(this.#gate.grant, { user, policies, terms });
    this.#count('creations');
    const answer = await this.#core.handle({ operation: 'update', path: 'auth/gate/login', wrapTtl, remoteAddress: LOGIN_FROM });
    const law = (kept: boolean, text: string): void => {
      if (!kept) throw new LawBroken(`${text}: ${JSON.stringify({ user, policies, terms, answer })}`);
    };
    law(answer.status < 500, 'the server failed');
    if (answer.errors) return this.#count('login, refused');
    const auth = await this.#unwrapped(answer, wrapTtl);
    const made = await this.#look(auth.client_token, {
      maker: undefined,
      child: false,
      most: Infinity,
      renewals: Math.min(terms.maxTtl || SYSTEM_MAX, SYSTEM_MAX),
    });
    this.#countKinds('login', made);
    const granted = new Set([...policies.map((name) => name.trim().toLowerCase()), 'default']);
    law(
      !made.policies.includes('root') && made.policies.every((name) => granted.has(name)),
      'a login has policies that it was not granted',
    );
    law(!terms.boundCidrs || isBound(made, terms.boundCidrs), 'a login is not bound to its addresses');
    law(!terms.numUses || isWithin(made.numUses, { least: 1, most: terms.numUses }), 'a login has more uses than it was granted');
    law(made.expires <= made.hardEnd, 'a login lives beyond its explicit maximum');
    await this.#keep(made, law);
  }

  /** The token takes its part in what follows. It is renewed as far as it goes at once, which is where a limit would be escaped. */
  async #keep(made: Known, law: (kept: boolean, text: string) => void): Promise<void> {
    if (made.numUses > 0) {
      const spent = await this.#call('auth/token/create', made, {}, 0);
      law(!spent.auth, 'a token of few uses made another');
      return;
    }
    this.#known.push(made);
    if (!made.batch && this.#known.length % 4 === 0) await this.#renew(made, 100 * SYSTEM_MAX);
  }

  async #renew(known: Known, increment: number): Promise<void> {
    const { auth } = await this.#call('auth/token/renew-self', known, { increment }, 0);
    if (!auth) return;
    this.#count('renewed');
    const ends = this.#clock.millis() + auth.lease_duration * 1_000;
    known.expires = ends + 1_000;
    // The answer rounds to whole seconds.
    if (ends - 500 > Math.min(known.hardEnd, known.longestEnd))
      throw new LawBroken(`a renewal went beyond the limits: ${JSON.stringify(known)}`);
  }

  async #revoke(known: Known, orphanChildren: boolean): Promise<void> {
    if (known.batch || known.token === 'root') return;
    await this.#write(orphanChildren ? 'auth/token/revoke-orphan' : 'auth/token/revoke', { token: known.token });
    known.revoked = true;
    if (orphanChildren) for (const other of this.#known) if (other.maker === known && !other.batch) other.child = false;
  }

  /** What the answer holds, which must be wrapped for as long as was asked: whole seconds, at most the maximum of the system. */
  async #unwrapped(answer: CoreResponse, asked: number): Promise<NonNullable<CoreResponse['auth']>> {
    const ttl = Math.min(Math.ceil(asked), SYSTEM_MAX);
    const { wrapInfo, auth } = answer;
    if ((wrapInfo?.ttl ?? 0) !== ttl)
      throw new LawBroken(`an answer that was to be wrapped for ${asked} s is wrapped for ${wrapInfo?.ttl ?? 0} s`);
    if (!wrapInfo) return auth!;
    this.#count('wrapped');
    const unwrap = { operation: 'update', path: 'sys/wrapping/unwrap', data: { token: wrapInfo.token } } as const;
    const opened = await this.#core.handle(unwrap);
    if (auth || answer.data !== null || !opened.auth) throw new LawBroken('a wrapped answer was shown, or is gone');
    if (!(await this.#core.handle(unwrap)).errors) throw new LawBroken('a wrapped answer was given twice');
    return opened.auth;
  }

  async #look(token: string, line: { maker: Known | undefined; child: boolean; most: number; renewals: number }): Promise<Known> {
    const data = (await this.#write('auth/token/lookup', { token })).data as {
      readonly policies: string[];
      readonly identity_policies?: string[];
      readonly bound_cidrs?: string[];
      readonly entity_id: string;
      readonly num_uses: number;
      readonly explicit_max_ttl: number;
      readonly expire_time: string | null;
      readonly period?: number;
      readonly renewable?: boolean;
      readonly type: string;
      readonly orphan: boolean;
    };
    const now = this.#clock.millis();
    const expires = data.expire_time === null ? Infinity : Date.parse(data.expire_time);
    const explicit = data.explicit_max_ttl > 0 ? now + data.explicit_max_ttl * 1_000 : Infinity;
    const hardEnd = Math.min(line.maker?.hardEnd ?? Infinity, explicit);
    const periodic = (data.period ?? 0) > 0;
    const renewed = data.renewable ? (periodic ? Infinity : Math.max(expires, now + line.renewals * 1_000)) : expires;
    const batch = data.type === 'batch';
    if (!batch && data.orphan === line.child) throw new LawBroken(`a token is an orphan or not against its order: ${JSON.stringify(data)}`);
    return {
      token,
      batch,
      policies: data.policies,
      powers: [...data.policies, ...(data.identity_policies ?? [])],
      cidrs: data.bound_cidrs ?? [],
      entityId: data.entity_id,
      numUses: data.num_uses,
      periodic,
      maker: line.maker,
      hardEnd,
      longestEnd: Math.min(line.most, hardEnd, renewed),
      expires,
      child: line.child,
      revoked: false,
    };
  }

  #ended(known: Known): boolean {
    const now = this.#clock.millis();
    if (known.revoked || now >= known.expires || now >= known.hardEnd || now >= known.longestEnd) return true;
    return known.child && known.maker !== undefined && this.#ended(known.maker);
  }

  async #worksFrom(known: Known, remoteAddress: string): Promise<boolean> {
    const answer = await this.#core.handle({ operation: 'read', path: 'auth/token/lookup-self', token: known.token, remoteAddress });
    return answer.status === 200;
  }

  #call(path: string, { token, cidrs }: Known, data: Record<string, unknown>, wrapTtl: number): Promise<CoreResponse> {
    return this.#core.handle({ operation: 'update', path, data, token, wrapTtl, remoteAddress: addressWithin(cidrs) });
  }

  async #write(path: string, data: Record<string, unknown>): Promise<CoreResponse> {
    const answer = await this.#core.handle({ operation: 'update', path, data, token: 'root', remoteAddress: LOGIN_FROM });
    if (answer.errors) throw new Error(`${path}: ${answer.errors.join('; ')}`);
    return answer;
  }

  /** Mostly one that may make tokens. */
  #pickMaker(number: number): Known {
    const able = this.#living().filter((known) => !known.batch && hasAny(known, ['root', 'maker', 'chief']));
    return number % 8 === 0 ? this.#pick(number) : able[number % able.length]!;
  }

  #pick(number: number): Known {
    const living = this.#living();
    return living[number % living.length]!;
  }

  #living(): Known[] {
    return this.#known.filter((known) => !this.#ended(known));
  }

  #countKinds(how: string, made: Known): void {
    this.#count(how);
    if (made.batch) this.#count('batch');
    if (made.periodic) this.#count('periodic');
    if (made.cidrs.length > 0) this.#count('bound');
    if (made.hardEnd < Infinity) this.#count('limited');
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }
}

/** The exact rule of `sealed` decides for the path that it names, and gives no sudo. */
function hasSudo({ powers }: Known, path: string): boolean {
  return powers.includes('root') || (powers.includes('chief') && !(path === 'create' && powers.includes('sealed')));
}

function hasAny({ powers }: Known, wanted: readonly string[]): boolean {
  return wanted.some((name) => powers.includes(name));
}

function isSealed({ powers }: Known): boolean {
  return powers.includes('sealed') && !powers.includes('root');
}

/** Whether the role names the policy. One that lists any policies adds `default` to them. */
function names(role: RoleOrder | undefined, policy: string): boolean {
  const globs = role?.allowed_policies_glob ?? [];
  const lists = role?.allowed_policies !== undefined || globs.length > 0;
  return (
    (lists && policy === 'default') ||
    (role?.allowed_policies ?? []).includes(policy) ||
    globs.some((glob) => policy.startsWith(glob.slice(0, -1)))
  );
}

function isBound({ cidrs }: Known, bounds: readonly string[]): boolean {
  return cidrs.length > 0 && cidrs.every((block) => bounds.some((bound) => covers(bound, block)));
}

function isWithin(number: number | undefined, { least, most }: { least: number; most: number }): boolean {
  return number !== undefined && number >= least && number <= most;
}
