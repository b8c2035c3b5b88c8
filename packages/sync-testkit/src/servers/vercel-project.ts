import { randomBytes } from 'node:crypto';
import { ProviderRefusal } from './http-server.ts';

/** An environment variable of the Vercel of the tests. */
export interface VercelVariable {
  readonly id: string;
  key: string;
  value: string;
  type: 'system' | 'encrypted' | 'plain' | 'sensitive';
  target: readonly string[];
  comment: string;
  gitBranch: string | undefined;
  /** Ids of environments that the project has of its own. */
  customEnvironmentIds: readonly string[];
  readonly createdAt: number;
  updatedAt: number;
}

const MOST_VARIABLES_BYTES = 64 * 1024;
const LONGEST_COMMENT = 500;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/;

export type VariableWrite = Partial<Pick<VercelVariable, 'key' | 'value' | 'type' | 'target' | 'comment' | 'customEnvironmentIds'>> & {
  gitBranch?: string | null | undefined;
};

/** The environment variables of one project. */
export class VercelProject {
  readonly id: string;
  readonly name: string;
  readonly teamId: string | undefined;
  readonly #now: () => number;
  readonly #variables = new Map<string, VercelVariable>();

  constructor(id: string, name: string, teamId: string | undefined, now: () => number) {
    this.id = id;
    this.name = name;
    this.teamId = teamId;
    this.#now = now;
  }

  /** Newest first, as lists have them. */
  all(): VercelVariable[] {
    return [...this.#variables.values()].reverse();
  }

  find(id: string): VercelVariable | undefined {
    return this.#variables.get(id);
  }

  create(write: VariableWrite & { readonly key: string; readonly value: string }, upsert = false): VercelVariable {
    const wanted = {
      type: write.type ?? 'encrypted',
      target: [...(write.target ?? [])],
      comment: write.comment ?? '',
      gitBranch: write.gitBranch ?? undefined,
      customEnvironmentIds: write.customEnvironmentIds ?? [],
    };
    if (!NAME.test(write.key))
      throw refuse(400, 'INVALID_KEY', 'The name contains invalid characters. Only letters, digits, and underscores are allowed.');
    if (write.key.startsWith('VERCEL_')) throw refuse(400, 'RESERVED_ENV_VARIABLE', 'The name of your Environment Variable is reserved.');
    this.#checkRules(wanted, write.value);
    const same = this.all().find((other) => this.#collides(other, write.key, wanted.target, wanted.gitBranch));
    if (same !== undefined && upsert) return this.update(same.id, { ...wanted, value: write.value });
    if (same !== undefined) {
      const place = `target ${wanted.target.join(',')} on branch ${wanted.gitBranch}`;
      throw new ProviderRefusal(400, 'ENV_CONFLICT', `A variable with the name \`${write.key}\` already exists for the ${place}`, {
        details: { envVarKey: write.key, envVarId: same.id, target: wanted.target },
      });
    }
    // Pages go by the time of creation, so no two share one.
    const now = Math.max(this.#now(), (this.all()[0]?.createdAt ?? 0) + 1);
    const variable = {
      id: randomBytes(12).toString('base64url'),
      key: write.key,
      value: write.value,
      ...wanted,
      createdAt: now,
      updatedAt: now,
    };
    this.#checkSize(variable);
    this.#variables.set(variable.id, variable);
    return variable;
  }

  update(id: string, write: VariableWrite): VercelVariable {
    const old = this.#variables.get(id);
    if (old === undefined) throw refuse(404, 'ENV_NOT_FOUND', 'The Environment Variable was not found.');
    if (old.type === 'sensitive' && write.key !== undefined) {
      throw refuse(400, 'BAD_REQUEST', 'You cannot change the key of a Sensitive Environment Variable.');
    }
    if (write.type !== undefined && write.type !== old.type && [write.type, old.type].includes('sensitive')) {
      throw refuse(400, 'BAD_REQUEST', 'You cannot change the type of a Sensitive Environment Variable.');
    }
    const { gitBranch, ...rest } = write;
    const changed: VercelVariable = {
      ...old,
      ...rest,
      gitBranch: gitBranch === undefined ? old.gitBranch : (gitBranch ?? undefined),
      updatedAt: Math.max(this.#now(), old.updatedAt + 1),
    };
    this.#checkRules(changed, changed.value);
    const same = this.all().find((other) => other.id !== id && this.#collides(other, changed.key, changed.target, changed.gitBranch));
    if (same !== undefined) throw refuse(409, 'ENV_CONFLICT', `A variable with the name \`${changed.key}\` already exists`);
    this.#checkSize(changed);
    this.#variables.set(id, changed);
    return changed;
  }

  delete(id: string): VercelVariable {
    const variable = this.#variables.get(id);
    if (variable === undefined) throw refuse(404, 'ENV_NOT_FOUND', 'The Environment Variable was not found.');
    this.#variables.delete(id);
    return variable;
  }

  #collides(other: VercelVariable, key: string, target: readonly string[], gitBranch: string | undefined): boolean {
    return other.key === key && other.gitBranch === gitBranch && other.target.some((one) => target.includes(one));
  }

  #checkRules(wanted: Pick<VercelVariable, 'type' | 'target' | 'comment' | 'customEnvironmentIds'>, value: string): void {
    if (wanted.target.length + wanted.customEnvironmentIds.length === 0)
      throw refuse(400, 'MISSING_TARGET', 'Environment Variables must have at least one target.');
    if (wanted.type === 'sensitive' && wanted.target.includes('development')) {
      throw refuse(400, 'BAD_REQUEST', "You cannot set a Sensitive Environment Variable's target to development.");
    }
    if (wanted.comment.length > LONGEST_COMMENT) throw refuse(400, 'BAD_REQUEST', `A comment has at most ${LONGEST_COMMENT} characters.`);
    if (Buffer.byteLength(value) > MOST_VARIABLES_BYTES) throw refuse(400, 'ENV_TOO_LARGE', 'The value is too large.');
  }

  #checkSize(added: VercelVariable): void {
    const rest = this.all().filter(({ id }) => id !== added.id);
    const size = [...rest, added].reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
    if (size > MOST_VARIABLES_BYTES) throw refuse(400, 'ENV_TOO_LARGE', 'The Environment Variables exceed 64 KB.');
  }
}

export const refuse = (status: number, code: string, message: string): ProviderRefusal => new ProviderRefusal(status, code, message);
