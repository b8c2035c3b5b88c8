import { InvalidRequest, listed, NotFound, type Collection, type StorageView } from '@strongroom/engine-sdk';
import {
  defaultPasswordPolicy,
  generatePassword,
  parsePasswordPolicy,
  PasswordGenerationError,
  PasswordPolicyError,
  type PasswordPolicy,
} from '@strongroom/password-policy';
import { Type, type Static } from 'typebox';
import { decodePolicyText } from '../policies/policy.ts';

const PasswordPolicyRecord = Type.Object({ policy: Type.String() });

export interface PasswordPolicyStoreOptions {
  readonly storage: StorageView;
  /** The system's source, e.g. that of node:crypto. */
  randomBytes(count: number): Uint8Array;
}

const prefix = 'password/';
const shortest = 4;
const longest = 100;
/** Most policies whose reading is kept. */
const capacity = 1024;

/** Named password policies, as engines use them. */
export class PasswordPolicyStore {
  readonly #records: Collection<Static<typeof PasswordPolicyRecord>>;
  readonly #randomBytes: (count: number) => Uint8Array;
  readonly #read = new Map<string, PasswordPolicy>();
  #generation = 0;

  constructor({ storage, randomBytes }: PasswordPolicyStoreOptions) {
    this.#records = storage.collection(prefix, PasswordPolicyRecord, { cached: true });
    this.#randomBytes = randomBytes;
  }

  /** The text as it was written. */
  async get(name: string): Promise<string | undefined> {
    return (await this.#records.get(name))?.policy;
  }

  list(query: { readonly after?: string; readonly limit?: number } = {}): Promise<string[]> {
    return this.#records.list(query);
  }

  /**
   * Creates or replaces, after one password was made by it.
   * @throws InvalidRequest for a text that cannot be read and for rules that no password meets.
   */
  async put(name: string, text: string): Promise<void> {
    if (text === '') throw new InvalidRequest('missing policy');
    const decoded = decodePolicyText(text);
    const policy = readPolicy(decoded);
    if (policy.length < shortest || policy.length > longest) {
      throw new InvalidRequest(`passwords must be between ${shortest} and ${longest} characters`);
    }
    try {
      this.#generate(policy);
    } catch (error) {
      if (!(error instanceof PasswordGenerationError)) throw error;
      throw new InvalidRequest('unable to construct test password from provided policy: are the rules impossible?', { cause: error });
    }
    await this.#records.put(name, { policy: decoded });
    this.#changed(name);
  }

  /** Deleting what is not there succeeds. */
  async delete(name: string): Promise<void> {
    await this.#records.delete(name);
    this.#changed(name);
  }

  /** A password by the named policy, or by the default one. @throws NotFound for an unknown name. */
  async generate(name?: string): Promise<string> {
    if (name === undefined || name === '') return this.#generate(defaultPasswordPolicy);
    const policy = await this.#policy(name);
    if (!policy) throw new NotFound('no password policy found');
    return this.#generate(policy);
  }

  /** Another process changed the record of this key. */
  invalidate(key: string): void {
    if (key.startsWith(prefix)) this.#changed(key.slice(prefix.length));
  }

  /** It is unknown which records changed. */
  invalidateAll(): void {
    this.#generation++;
    this.#read.clear();
  }

  async #policy(name: string): Promise<PasswordPolicy | undefined> {
    const kept = this.#read.get(name);
    if (kept) return kept;
    const generation = this.#generation;
    const text = await this.get(name);
    if (text === undefined) return undefined;
    const policy = readPolicy(text);
    if (generation === this.#generation) {
      if (this.#read.size >= capacity) this.#read.clear();
      this.#read.set(name, policy);
    }
    return policy;
  }

  #changed(name: string): void {
    this.#generation++;
    this.#read.delete(name);
  }

  #generate(policy: PasswordPolicy): string {
    return generatePassword(policy, this.#randomBytes);
  }
}

function readPolicy(text: string): PasswordPolicy {
  try {
    return parsePasswordPolicy(text);
  } catch (error) {
    if (!(error instanceof PasswordPolicyError)) throw error;
    throw new InvalidRequest(`invalid password policy: ${error.message}`, { cause: error });
  }
}

/** What the endpoints say about an unknown name. */
export function unknownPasswordPolicy(): NotFound {
  return new NotFound(listed('policy does not exist'));
}
