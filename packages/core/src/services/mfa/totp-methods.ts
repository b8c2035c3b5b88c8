import { randomUUID } from 'node:crypto';
import { BadRequest, InvalidRequest, NotFound } from '@strongroom/engine-sdk';
import type { Store } from '../../kernel/storage/store.ts';
import { mfaSettings, NO_SETTINGS, type TotpMethod } from './mfa-settings.ts';

/** A write of a method: it replaces all but the name, which stays if it is left out. */
export interface TotpMethodOrder extends Omit<TotpMethod, 'id' | 'name' | 'algorithm' | 'digits'> {
  readonly name: string | undefined;
  readonly algorithm: string;
  readonly digits: number;
}

/** Bytes: the issuer must fit into a QR code, in which it stands twice. */
const LONGEST_TEXT = 256;
const LONGEST_PERIOD = 86_400;
const LARGEST_KEY = 128;
const LARGEST_PICTURE = 2_000;

/** Methods of one-time codes. A secret keeps the parameters that its method had when it was made. */
export class TotpMethods {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  async list(): Promise<readonly TotpMethod[]> {
    return (await mfaSettings.get(this.#store))?.methods ?? [];
  }

  async get(id: string): Promise<TotpMethod | undefined> {
    return (await this.list()).find((method) => method.id === id);
  }

  /**
   * Changes the method of that id, else the one of that name, else makes one; an imported one is made with its id. Resolves with its id.
   * @throws BadRequest that names the field
   * @throws NotFound for an id of none
   */
  async save(id: string | undefined, order: TotpMethodOrder, { imported = false } = {}): Promise<string> {
    const checked = check(order);
    return this.#store.transaction(async (tx) => {
      const settings = (await mfaSettings.get(tx)) ?? NO_SETTINGS;
      const { methods } = settings;
      const named = order.name ? methods.find(({ name }) => name === order.name) : undefined;
      const former = id === undefined ? named : methods.find((method) => method.id === id);
      if (id !== undefined && !former && !imported) throw new NotFound(`there is no MFA method ${JSON.stringify(id)}`);
      if (named && named.id !== former?.id)
        throw new BadRequest(`method_name: the method ${named.id} has the name ${JSON.stringify(named.name)}`);
      const saved: TotpMethod = { ...checked, id: former?.id ?? id ?? randomUUID(), name: order.name ?? former?.name ?? '' };
      mfaSettings.put(tx, { ...settings, methods: [...methods.filter((method) => method !== former), saved] });
      return saved.id;
    });
  }

  /** An unknown id is no error. @throws InvalidRequest while an enforcement uses it */
  async remove(id: string): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const settings = await mfaSettings.get(tx);
      const methods = settings?.methods.filter((method) => method.id !== id);
      if (!settings || methods?.length === settings.methods.length) return;
      const user = settings.enforcements.find(({ mfa_method_ids }) => mfa_method_ids.includes(id));
      if (user) throw new InvalidRequest(`methodID is still used by an enforcement configuration with ID: ${user.id}`);
      mfaSettings.put(tx, { ...settings, methods: methods! });
    });
  }
}

/** @throws BadRequest */
function check(order: TotpMethodOrder): Omit<TotpMethod, 'id' | 'name'> {
  const { name, issuer, period, key_size, qr_size, algorithm, digits, skew, max_validation_attempts } = order;
  if (issuer === '') throw new BadRequest('issuer must be set');
  for (const [field, text] of Object.entries({ issuer, method_name: name ?? '' })) {
    if (/[\p{Cc}\p{Cs}]/u.test(text)) throw new BadRequest(`${field} must not hold control characters`);
    if (Buffer.byteLength(text) > LONGEST_TEXT) throw new BadRequest(`${field} must be at most ${LONGEST_TEXT} bytes`);
  }
  if (!(period > 0)) throw new BadRequest('period must be greater than zero');
  if (period > LONGEST_PERIOD || !Number.isInteger(period)) throw new BadRequest('period must be whole seconds, at most one day');
  if (key_size <= 0) throw new BadRequest('key_size must be greater than zero');
  if (key_size > LARGEST_KEY) throw new BadRequest(`key_size must be at most ${LARGEST_KEY} bytes`);
  if (qr_size < 0 || qr_size > LARGEST_PICTURE)
    throw new BadRequest(`qr_size must be from 0, for no picture, to ${LARGEST_PICTURE} pixels`);
  if (algorithm !== 'SHA1' && algorithm !== 'SHA256' && algorithm !== 'SHA512') throw new BadRequest('unrecognized algorithm');
  if (digits !== 6 && digits !== 8) throw new BadRequest('digits can only be 6 or 8');
  if (skew !== 0 && skew !== 1) throw new BadRequest('skew must be 0 or 1');
  if (max_validation_attempts <= 0) throw new BadRequest('max_validation_attempts must be greater than zero');
  // These divide what the header X-Vault-MFA says.
  if (name && !/^[^:,]+$/.test(name)) throw new BadRequest('method_name must not hold ":" or ","');
  return { issuer, period, key_size, qr_size, algorithm, digits, skew, max_validation_attempts };
}
