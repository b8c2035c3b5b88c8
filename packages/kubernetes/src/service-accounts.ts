import { randomUUID } from 'node:crypto';
import {
  BadRequest,
  issue,
  type EngineHost,
  type EngineRequest,
  type Intent,
  type OpenIntent,
  type OutsideThing,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import type { Access, Cluster } from './cluster.ts';
import { createObject, removeObject, requestToken, type IssuedToken } from './cluster-objects.ts';
import { manifestsOf, titleOf, type Manifest } from './manifests.ts';
import { objectName } from './names.ts';
import { namespaceFor, requireAllowed } from './namespaces.ts';
import { ObjectRef, recordsIn, type RoleRecord } from './records.ts';
import { createsAccount, SHORTEST_TOKEN } from './role.ts';
import { parseRules } from './role-rules.ts';

/** Longer than a request with all its deadlines, and than the API server works on a call whose caller is gone: seconds. */
const INTENT_AGE = 180;
/** So much the clocks of the API server and of this server may differ: seconds. */
const CLOCK_SKEW = 60;

const Made = Type.Object({
  role: Type.String(),
  /** The id that the objects carry as a label. */
  creation: Type.String(),
  objects: Type.Array(ObjectRef),
});
type Made = Static<typeof Made>;

/** What a caller asks for. */
export interface Wish {
  readonly kubernetes_namespace: string;
  readonly cluster_role_binding: boolean;
  /** Seconds; 0 for the role's. */
  readonly ttl: number;
  readonly audiences: readonly string[];
}

/** What will be done for a wish. */
export interface Plan {
  readonly creation: string;
  readonly namespace: string;
  readonly account: string;
  readonly manifests: readonly Manifest[];
  /** Of the lease. */
  readonly seconds: number;
  /** Of the token, which may outlive the lease where its account does not. */
  readonly tokenSeconds: number;
  readonly audiences: readonly string[];
  readonly warnings: readonly string[];
}

/** Tokens of service accounts, and the accounts, roles and bindings that are made for them and removed with their lease. */
export class ServiceAccounts {
  readonly intent: Intent<typeof Made>;
  readonly secret: SecretType<typeof Made>;
  readonly #host: EngineHost;
  readonly #cluster: Cluster;

  constructor(host: EngineHost, cluster: Cluster) {
    this.#host = host;
    this.#cluster = cluster;
    const target = (): string => cluster.target;
    this.intent = {
      kind: 'create-objects',
      entry: Made,
      minAgeSeconds: INTENT_AGE,
      target,
      rollback: async (made, storage, signal) => {
        await this.remove(made, signal);
        await recordsIn(storage).creations.delete(made.creation);
      },
      outside: outsideThing,
    };
    this.secret = {
      type: 'kube_token',
      internal: Made,
      target,
      revoke: async ({ internal, signal }) => this.remove(internal, signal),
      revoked: async ({ creation }, tx) => recordsIn(tx).creations.delete(creation),
      dropped: async ({ creation }, tx) => {
        const { creations } = recordsIn(tx);
        const record = await creations.get(creation);
        if (record) await creations.put(creation, { ...record, dropped: true });
      },
      outside: outsideThing,
    };
  }

  /** @throws BadRequest for a wish that the role or the API server cannot fulfil */
  async plan(displayName: string, roleName: string, role: RoleRecord, wish: Wish): Promise<Plan> {
    const namespace = namespaceFor(role, wish.kubernetes_namespace);
    const creates = createsAccount(role);
    if (wish.cluster_role_binding && !creates)
      throw new BadRequest('cluster_role_binding: the role creates tokens only, and binds nothing');
    if (wish.cluster_role_binding && role.kubernetes_role_type === 'Role') throw new BadRequest('a ClusterRoleBinding cannot ref a Role');
    const asked = wish.ttl || role.token_default_ttl;
    const { ttl: seconds } = this.#host.limit({ ttl: asked, maxTtl: role.token_max_ttl });
    if (!creates && seconds < SHORTEST_TOKEN) {
      throw new BadRequest(
        `ttl: ${seconds}s is less than the ${SHORTEST_TOKEN}s (10 minutes) that a token of an existing service account is valid at least; ask for more, or ` +
          'raise token_max_ttl of the role or the maximum of the mount',
      );
    }
    const shorter = `ttl of ${asked}s is greater than token_max_ttl of the role or the maximum of the mount; capping to ${seconds}s`;
    const creation = randomUUID();
    const account = creates ? objectName(this.#host, role.name_template, displayName, roleName) : role.service_account_name;
    const rules = role.generated_role_rules === '' ? [] : await parseRules(role.generated_role_rules);
    const about = { id: creation, mount: this.#host.mount.uuid, name: account, namespace, everywhere: wish.cluster_role_binding };
    return {
      creation,
      namespace,
      account,
      manifests: creates ? manifestsOf(role, rules, about) : [],
      seconds,
      tokenSeconds: Math.max(seconds, SHORTEST_TOKEN),
      audiences: wish.audiences.length > 0 ? wish.audiences : role.token_default_audiences,
      warnings: asked > seconds ? [shorter] : [],
    };
  }

  /** Creates a credential: first what is about to happen is stored, then the API server is asked, then the core stores the lease. */
  async create(req: EngineRequest, roleName: string, role: RoleRecord, wish: Wish) {
    const plan = await this.plan(req.caller.displayName, roleName, role, wish);
    const { namespace, account, manifests } = plan;
    const made: Made = { role: roleName, creation: plan.creation, objects: manifests.map(({ ref }) => ref) };
    return this.#cluster.use(async (access) => {
      await requireAllowed(role, namespace, access, req.signal);
      const intent = manifests.length === 0 ? undefined : await this.#intend(made);
      const issued = await this.#make(access, plan, made, intent, req.signal);
      const left = Math.floor((issued.expires - this.#host.clock.millis()) / 1_000);
      const isShorter = left < plan.seconds - CLOCK_SKEW;
      const seconds = isShorter ? Math.max(1, left) : plan.seconds;
      const cut = `the API server issued a token of ${left}s, where ${plan.tokenSeconds}s were asked for; the lease ends with it`;
      return {
        data: { service_account_name: account, service_account_namespace: namespace, service_account_token: issued.token },
        secret: issue(this.secret, {
          internal: made,
          terms: { ttl: seconds, maxTtl: seconds, renewable: false },
          ...(intent ? { fulfils: intent } : {}),
        }),
        warnings: isShorter ? [...plan.warnings, cut] : [...plan.warnings],
      };
    });
  }

  /**
   * Removes what a creation made: the binding first, which gives the rights, then the rest, in any case all that can be removed.
   * @throws what kept an object from being removed
   */
  async remove({ creation, objects }: Omit<Made, 'role'>, signal: AbortSignal): Promise<void> {
    if (objects.length === 0) return;
    await this.#cluster.use(async (access) => {
      const errors: unknown[] = [];
      for (const ref of [...objects].reverse()) {
        await removeObject(access, ref, creation, signal).catch((error: unknown) => errors.push(error));
        signal.throwIfAborted();
      }
      if (errors.length > 0) throw errors[0];
    });
  }

  /** Objects that no lease removes any more: an operator let go of their leases. */
  async outside(): Promise<OutsideThing[]> {
    const left = (await recordsIn(this.#host.storage).creations.entries()).filter(([, { dropped }]) => dropped === true);
    return left.flatMap(([creation, { role, objects }]) => outsideThing({ role, creation, objects }) ?? []);
  }

  async #intend(made: Made): Promise<OpenIntent> {
    return this.#host.storage.transaction(async (tx) => {
      await recordsIn(tx).creations.put(made.creation, { role: made.role, objects: made.objects });
      return tx.intend(this.intent, made);
    });
  }

  async #make(access: Access, plan: Plan, made: Made, intent: OpenIntent | undefined, signal: AbortSignal): Promise<IssuedToken> {
    const { namespace, account, manifests, audiences, tokenSeconds } = plan;
    try {
      for (const manifest of manifests) await createObject(access, manifest, signal);
      return await requestToken(access, { namespace, name: account }, { seconds: tokenSeconds, audiences }, signal);
    } catch (error) {
      if (intent) await this.#undo(made, intent, error);
      throw error;
    }
  }

  /** What was refused half-way is undone now. A call whose outcome is unknown may still be carried out: the journal undoes it when that is over. */
  async #undo(made: Made, intent: OpenIntent, cause: unknown): Promise<void> {
    if (!isAnswer(cause)) return;
    try {
      // Not by the signal of the request: what was begun is cleaned up also when its caller is gone.
      await this.remove(made, new AbortController().signal);
    } catch (error) {
      const { log, mount } = this.#host;
      log.warn('objects whose creation failed could not be removed yet', { mount: mount.path, error: (error as Error).message });
      await this.#host.storage.transaction(async (tx) => tx.abandon(intent));
      return;
    }
    await this.#host.storage.transaction(async (tx) => {
      await recordsIn(tx).creations.delete(made.creation);
      await tx.settle(intent);
    });
  }
}

/** Whether the API server said what became of a call. */
function isAnswer(error: unknown): boolean {
  return error instanceof BadRequest || (error as { answered?: unknown }).answered === true;
}

function outsideThing({ role, objects }: Made): OutsideThing | undefined {
  if (objects.length === 0) return undefined;
  const [account] = objects;
  const detail = `made by the role ${JSON.stringify(role)}: ${objects.map(titleOf).join(', ')}`;
  return { kind: 'service account', name: `${account!.namespace}/${account!.name}`, detail };
}
