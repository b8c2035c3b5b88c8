import { BadRequest, NotFound, type EngineHost } from '@strongroom/engine-sdk';
import { requireCidrs, requireWithinRole } from './addresses.ts';
import { parseMetadata } from './metadata.ts';
import type { Role } from './role.ts';
import type { Roles } from './roles.ts';
import type { Tidying } from './schedules.ts';
import type { SecretId } from './secret-id.ts';
import type { SecretIds } from './secret-ids.ts';
import { uuidOf } from './uuid.ts';

const LONGEST_SECRET_ID = 4_096;

/** What a caller asks for; undefined is "as the role says". */
export interface SecretIdOrder {
  /** A random one by default. */
  readonly secretId?: string;
  readonly metadata: string;
  readonly cidrs: readonly string[];
  readonly tokenCidrs: readonly string[];
  readonly uses: number | undefined;
  /** Seconds. */
  readonly ttl: number | undefined;
}

export interface MadeSecretId {
  readonly secretId: string;
  readonly record: SecretId;
}

/** Makes secret ids within what their role allows. */
export class SecretIdMaker {
  readonly #host: EngineHost;
  readonly #roles: Roles;
  readonly #secretIds: SecretIds;
  readonly #tidying: Tidying;

  constructor(host: EngineHost, parts: { roles: Roles; secretIds: SecretIds; tidying: Tidying }) {
    this.#host = host;
    this.#roles = parts.roles;
    this.#secretIds = parts.secretIds;
    this.#tidying = parts.tidying;
  }

  /** `name`: of the role. @throws NotFound | BadRequest */
  async make(name: string, order: SecretIdOrder): Promise<MadeSecretId> {
    const { storage } = this.#host;
    const secretId = order.secretId ?? this.#random();
    if (Buffer.byteLength(secretId) > LONGEST_SECRET_ID) throw new BadRequest(`secret_id is longer than ${LONGEST_SECRET_ID} bytes`);
    const metadata = parseMetadata(order.metadata);
    const accessor = this.#random();
    const record = await storage.transaction(async (tx) => {
      const role = await this.#roles.records(tx).get(name);
      if (!role) throw new NotFound(`role ${JSON.stringify(name)} does not exist`);
      if (!role.bind_secret_id) throw new BadRequest('bind_secret_id is not set on the role');
      const made = this.#record(role, order, metadata, accessor);
      if (made.expires !== 0) await this.#tidying.keepRunning(tx);
      if (!(await this.#secretIds.add(tx, role.key, secretId, made))) {
        throw new BadRequest('failed to store secret_id: SecretID is already registered');
      }
      return made;
    });
    if (record.expires !== 0) this.#tidying.keepsRunning();
    return { secretId, record };
  }

  #record(role: Role, order: SecretIdOrder, metadata: Record<string, string>, accessor: string): SecretId {
    const uses = order.uses ?? role.secret_id_num_uses;
    if (uses < 0) throw new BadRequest('num_uses cannot be negative');
    if (isAbove(uses, role.secret_id_num_uses)) {
      throw new BadRequest("num_uses cannot be higher than the role's secret_id_num_uses");
    }
    const asked = order.ttl ?? role.secret_id_ttl;
    if (isAbove(asked, role.secret_id_ttl)) throw new BadRequest("ttl cannot be longer than the role's secret_id_ttl");
    requireCidrs(order.cidrs);
    requireCidrs(order.tokenCidrs);
    requireWithinRole(order.cidrs, role.secret_id_bound_cidrs);
    requireWithinRole(order.tokenCidrs, role.token_bound_cidrs);
    const ttl = asked === 0 ? 0 : this.#host.limit({ ttl: asked, maxTtl: 0 }).ttl;
    const now = this.#host.clock.millis();
    return {
      accessor,
      uses_left: uses,
      ttl,
      created: now,
      updated: now,
      expires: ttl === 0 ? 0 : now + ttl * 1_000,
      metadata,
      cidr_list: [...order.cidrs],
      token_bound_cidrs: [...order.tokenCidrs],
    };
  }

  #random(): string {
    return uuidOf(this.#host.randomBytes(16));
  }
}

/** 0 means without limit, on both sides. */
function isAbove(asked: number, most: number): boolean {
  return most > 0 && (asked === 0 || asked > most);
}
