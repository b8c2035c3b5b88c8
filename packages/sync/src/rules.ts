import {
  BadRequest,
  PermissionDenied,
  type EngineHost,
  type EngineRequest,
  type Schedule,
  type SecretSources,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Associations } from './associations.ts';
import type { DestinationTypes } from './destination-types.ts';
import { settingsOf } from './remote-names.ts';
import { checkedExclusions, matches, prefixOf } from './rule-pattern.ts';
import { idOf, pages, placeOf, recordsIn, ruleId, type DestinationRecord, type Records, type RuleRecord } from './records.ts';
import type { SecretSubscribers } from './secret-subscribers.ts';
import type { SyncQueue } from './sync-queue.ts';

const RuleEntry = Type.Object({ rule: Type.String() });

/** Secrets that are looked at before their links are stored in one commit. */
const TOGETHER = 50;
/** Secrets that a rule links if its maker names no other number, and the most that it may name. */
export const DEFAULT_MAX_SECRETS = 1_000;
const MOST_SECRETS = 100_000;
/** When a new rule is applied once more: a secret made while another process had not heard of the rule is found then. Milliseconds. */
const SETTLING = 30_000;
/** When a mount is looked at again whose engine does not run. Milliseconds. */
const ENGINE_AWAY = 60_000;
/** A pass that takes longer ends, and another one goes on. Milliseconds. */
const ENOUGH = 40_000;

/** What a caller asks of a rule. */
export interface AskedRule {
  readonly mount: string | undefined;
  readonly secret_name: string;
  /** Undefined keeps those that there are. */
  readonly exclude: readonly string[] | undefined;
  readonly max_secrets: number | undefined;
}

/** What a rule means for a secret: a link, none for lack of a right or of room, or nothing. */
type Verdict = 'linked' | 'denied' | 'beyond' | 'unmeant';

/** What a pass over the whole folder came to. */
export interface Pass {
  readonly linked: number;
  readonly denied: number;
  readonly beyond: number;
  /** It ended before everything was looked at. */
  readonly unfinished: boolean;
}

/**
 * Links every secret of a folder, or of a mount, with a destination, as secrets come and go. The links are ordinary associations that know their rules. A rule
 * links what its maker may read, by the policies of that moment; nothing is taken back because the maker loses a right.
 */
export class Rules {
  readonly #host: EngineHost;
  readonly #sources: SecretSources;
  readonly #queue: SyncQueue;
  readonly #associations: Associations;
  readonly #subscribers: SecretSubscribers;
  readonly #types: DestinationTypes;

  /** Applies a rule to its whole folder. */
  readonly job: Schedule<typeof RuleEntry> = {
    kind: 'rule',
    entry: RuleEntry,
    about: async ({ rule }) => this.#about(rule),
    run: async (entry, _storage, signal) => this.#apply(entry, signal),
  };

  constructor(parts: {
    host: EngineHost;
    sources: SecretSources;
    queue: SyncQueue;
    associations: Associations;
    subscribers: SecretSubscribers;
    types: DestinationTypes;
  }) {
    this.#host = parts.host;
    this.#sources = parts.sources;
    this.#queue = parts.queue;
    this.#associations = parts.associations;
    this.#subscribers = parts.subscribers;
    this.#types = parts.types;
  }

  /** What would be stored. Changes nothing. @throws BadRequest, PermissionDenied */
  async check(req: Pick<EngineRequest, 'id' | 'caller'>, destination: DestinationRecord, asked: AskedRule): Promise<RuleRecord> {
    const pattern = asked.secret_name.replace(/^\/+/, '');
    const found = this.#associations.mountOf(asked.mount);
    const { source } = this.#sources.byUuid(found.uuid) ?? {};
    if (!source?.names) throw new BadRequest(`"${found.path}" offers no secrets to sync: only version-2 key-value mounts do`);
    if (!this.#sources.mayRead(req, `${found.path}${source.readPath(prefixOf(pattern))}`)) {
      throw new PermissionDenied(
        `permission denied to read every secret below ${JSON.stringify(prefixOf(pattern))} in mount ${found.path.slice(0, -1)}`,
      );
    }
    const key = { mount: found.uuid, destination: destination.id, pattern };
    const before = await recordsIn(this.#host.storage).rules.get(ruleId(key));
    const max_secrets = asked.max_secrets ?? before?.max_secrets ?? DEFAULT_MAX_SECRETS;
    if (max_secrets < 1 || max_secrets > MOST_SECRETS) throw new BadRequest(`max_secrets must be between 1 and ${MOST_SECRETS}`);
    return {
      ...key,
      id: before?.id ?? Buffer.from(this.#host.randomBytes(12)).toString('hex'),
      place: placeOf(destination),
      accessor: found.accessor,
      mount_path: found.path,
      exclude: checkedExclusions(pattern, asked.exclude ?? before?.exclude ?? []),
      max_secrets,
      rights: this.#sources.standingRights(req),
      made_by: req.caller.displayName,
      made_at: this.#host.clock.now().toISOString(),
    };
  }

  /** Stores a rule that was checked, and puts its first pass into the schedule. @throws BadRequest */
  async set(rule: RuleRecord): Promise<void> {
    await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const current = await records.destinations.get(rule.place);
      if (current?.id !== rule.destination || current.purge) throw new BadRequest(`the destination ${rule.place} is being deleted`);
      if (await records.goneMounts.has(rule.mount)) throw new BadRequest(`mount: "${rule.mount_path}" is being unmounted`);
      await records.rules.put(ruleId(rule), rule);
      await this.#subscribers.subscribe(tx, rule.mount, { rules: true });
      await tx.schedule(this.job, ruleId(rule), this.#host.clock.now(), { rule: ruleId(rule) });
    });
  }

  /** Takes the rule away, and every link that no other rule and no caller asked for. Resolves with the rule, or undefined where there is none. */
  async remove(destination: DestinationRecord, asked: Pick<AskedRule, 'mount' | 'secret_name'>): Promise<RuleRecord | undefined> {
    const found = this.#associations.mountOf(asked.mount);
    const id = ruleId({ mount: found.uuid, destination: destination.id, pattern: asked.secret_name.replace(/^\/+/, '') });
    return this.#host.storage.transaction(async (tx) => {
      const { rules } = recordsIn(tx);
      const rule = await rules.get(id);
      if (!rule) return undefined;
      await rules.put(id, { ...rule, removing: true });
      await tx.schedule(this.job, id, this.#host.clock.now(), { rule: id });
      return rule;
    });
  }

  /** Rules of a destination, or all of them. */
  async list(destination?: Pick<DestinationRecord, 'id'>): Promise<RuleRecord[]> {
    const found: RuleRecord[] = [];
    for await (const page of pages(recordsIn(this.#host.storage).rules)) {
      for (const [, rule] of page) if (!destination || rule.destination === destination.id) found.push(rule);
    }
    return found;
  }

  /** Where the mount of a rule is now; where it was, if it is gone. */
  mountPath({ mount, mount_path }: RuleRecord): string {
    return this.#sources.byUuid(mount)?.mount.path ?? mount_path;
  }

  /** Names below a rule in their order, page by page, without those that it excludes. */
  async *names(rule: RuleRecord): AsyncGenerator<string[]> {
    const { source } = this.#sources.byUuid(rule.mount) ?? {};
    let after: string | undefined;
    for (;;) {
      const page = (await source?.names?.(prefixOf(rule.pattern), { limit: TOGETHER, ...(after === undefined ? {} : { after }) })) ?? [];
      if (page.length > 0) yield page.filter((name) => matches(rule, name));
      after = page.at(-1);
      if (page.length < TOGETHER) return;
    }
  }

  /** Puts a pass of every rule, or of those of a destination, into the schedule. */
  async schedule(destination?: Pick<DestinationRecord, 'id'>): Promise<void> {
    const rules = await this.list(destination);
    if (rules.length === 0) return;
    await this.#host.storage.transaction(async (tx) => {
      for (const rule of rules) await tx.schedule(this.job, ruleId(rule), this.#host.clock.now(), { rule: ruleId(rule) });
    });
  }

  /** Looks at every secret of the folder, and at every secret that the rule has linked. */
  async pass(id: string, signal: AbortSignal): Promise<Pass | 'engine away' | undefined> {
    const rule = await recordsIn(this.#host.storage).rules.get(id);
    if (!rule) return undefined;
    const until = this.#host.clock.millis() + ENOUGH;
    const verdicts: Record<Verdict, number> = { linked: 0, denied: 0, beyond: 0, unmeant: 0 };
    const seen = new Set<string>();
    const enough = (): boolean => this.#host.clock.millis() > until;
    const judge = async (names: readonly string[]): Promise<void> => {
      signal.throwIfAborted();
      for (const name of names) seen.add(name);
      for (const verdict of await this.bring(rule.mount, names, rule)) verdicts[verdict] += 1;
    };
    if (!rule.removing) {
      const mount = this.#sources.byUuid(rule.mount);
      if (mount && !mount.source) return 'engine away';
      for await (const names of this.names(rule)) {
        if (enough()) return { ...verdicts, unfinished: true };
        await judge(names);
      }
    }
    for await (const page of pages(recordsIn(this.#host.storage).ruled, `${rule.id}/`)) {
      if (enough()) return { ...verdicts, unfinished: true };
      const left = page.map(([key]) => key.slice(rule.id.length + 1)).filter((name) => !seen.has(name));
      for (let from = 0; from < left.length; from += TOGETHER) await judge(left.slice(from, from + TOGETHER));
    }
    return { ...verdicts, unfinished: false };
  }

  /**
   * Links these secrets of a mount, or takes their links away, as the rules want it now: all rules of the mount, or one. Resolves with what that one, or the last
   * of them, means for each secret.
   */
  async bring(mount: string, names: readonly string[], only?: RuleRecord): Promise<Verdict[]> {
    const records = recordsIn(this.#host.storage);
    const known = this.#sources.byUuid(mount);
    if (known && !known.source) return [];
    const rules = only ? [only] : (await records.rules.entries({ prefix: `${mount}/` })).map(([, rule]) => rule);
    const verdicts: Verdict[] = names.map(() => 'unmeant');
    for (const rule of rules) {
      const asked = await Promise.all(names.map(async (name) => this.#isMeant(rule, name)));
      await this.#host.storage.transaction(async (tx) => {
        const inside = recordsIn(tx);
        const current = await inside.rules.get(ruleId(rule));
        let room: number | undefined;
        for (const [at, name] of names.entries()) {
          const meant = current?.id === rule.id && !current.removing ? asked[at]! : 'unmeant';
          const marked = await inside.ruled.has(`${rule.id}/${name}`);
          verdicts[at] = meant;
          if (meant === 'linked') {
            if (!marked) {
              room ??= rule.max_secrets - (await inside.ruled.list({ prefix: `${rule.id}/`, limit: rule.max_secrets })).length;
              if (room <= 0) verdicts[at] = 'beyond';
              else room -= 1;
            }
            if (verdicts[at] === 'linked') await this.#link(tx, inside, rule, name);
          } else if (marked && meant === 'unmeant') await this.#unlink(tx, inside, rule, name);
          else if (marked) verdicts[at] = 'linked';
        }
      });
    }
    return verdicts;
  }

  async #isMeant(rule: RuleRecord, name: string): Promise<Verdict> {
    const { mount, source } = this.#sources.byUuid(rule.mount) ?? {};
    if (!mount || !source || rule.removing || !matches(rule, name)) return 'unmeant';
    if ((await source.read(name)) === undefined) return 'unmeant';
    return (await this.#sources.mayReadWith(rule.rights, `${mount.path}${source.readPath(name)}`)) ? 'linked' : 'denied';
  }

  async #link(tx: Parameters<SyncQueue['add']>[0], records: Records, rule: RuleRecord, name: string): Promise<void> {
    const destination = await records.destinations.get(rule.place);
    if (destination?.id !== rule.destination || destination.purge || (await records.goneMounts.has(rule.mount))) return;
    const before = await this.#associations.find(records, rule.destination, { uuid: rule.mount, secret: name });
    const marker = `${rule.id}/${name}`;
    if (!(await records.ruled.has(marker))) await records.ruled.put(marker, {});
    const rules = [...new Set([...(before?.rules ?? []), rule.pattern])].sort();
    if (before?.wanted === 'synced') {
      if (before.rules?.includes(rule.pattern) !== true) await records.associations.put(idOf(before), { ...before, rules });
      return;
    }
    const secret = { uuid: rule.mount, path: this.mountPath(rule), accessor: rule.accessor, secret: name };
    const association = before ?? (await this.#associations.link(tx, records, destination, secret));
    await this.#queue.add(tx, association, {
      mount_path: secret.path,
      ...settingsOf(this.#types.installed(destination.type), destination),
      ...{ wanted: 'synced', verify: true, rules, by_rule_alone: true },
    });
  }

  async #unlink(tx: Parameters<SyncQueue['add']>[0], records: Records, rule: RuleRecord, name: string): Promise<void> {
    await records.ruled.delete(`${rule.id}/${name}`);
    const association = await this.#associations.find(records, rule.destination, { uuid: rule.mount, secret: name });
    if (!association?.rules?.includes(rule.pattern)) return;
    const rules = association.rules.filter((pattern) => pattern !== rule.pattern);
    const goes = rules.length === 0 && association.by_rule_alone === true && association.wanted === 'synced';
    if (goes) await this.#queue.add(tx, association, { wanted: 'removed', rules });
    else await records.associations.put(idOf(association), { ...association, rules });
  }

  async #apply({ rule: id }: Static<typeof RuleEntry>, signal: AbortSignal): Promise<Date | undefined> {
    const now = (): number => this.#host.clock.millis();
    const found = await this.pass(id, signal);
    if (found === undefined) return undefined;
    if (found === 'engine away') return new Date(now() + ENGINE_AWAY);
    if (found.unfinished) return new Date(now());
    return this.#host.storage.transaction(async (tx) => {
      const { rules } = recordsIn(tx);
      const rule = await rules.get(id);
      if (rule?.removing) await rules.delete(id);
      if (!rule || rule.removing) return undefined;
      const { linked, denied, beyond } = found;
      await rules.put(id, { ...rule, settled: true, found: { at: this.#host.clock.now().toISOString(), linked, denied, beyond } });
      return rule.settled ? undefined : new Date(now() + SETTLING);
    });
  }

  async #about(id: string): ReturnType<NonNullable<Schedule<typeof RuleEntry>['about']>> {
    const rule = await recordsIn(this.#host.storage).rules.get(id);
    if (!rule) return undefined;
    const name = `${this.mountPath(rule)}${rule.pattern} → ${rule.place}`;
    return { noun: 'rule', name, path: `destinations/${rule.place}/associations` };
  }
}
