import { BadRequest, type Clock, type Collection } from '@strongroom/engine-sdk';
import { otpauthUrl, qrCodePng } from '@strongroom/otp';
import { randomBytes } from '../../kernel/random/random-bytes.ts';
import type { Store, StoreTransaction } from '../../kernel/storage/store.ts';
import type { IdentityRecords } from '../identity/identity-records.ts';
import type { MfaSecret } from '../identity/mfa-secrets.ts';
import { mfaSettings, type TotpMethod } from './mfa-settings.ts';

/** What the person puts into an authenticator. */
export interface NewSecret {
  readonly url: string;
  /** A PNG of the URL as a QR code, base64; '' where the method makes no picture. */
  readonly barcode: string;
}

/** The identity records within a transaction of the store. */
export type IdentityWithin = (tx: StoreTransaction) => Pick<IdentityRecords, 'entities' | 'mfaSecrets'>;

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly identity: { readonly within: IdentityWithin; readonly currentId: (entityId: string) => Promise<string | undefined> };
}

/** The secrets that entities share with their authenticators. A secret is shown once, when it is made. */
export class TotpSecrets {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Undefined where the entity has one already. @throws BadRequest */
  async generate(methodId: string, entityId: string): Promise<{ method: TotpMethod; made: NewSecret | undefined }> {
    return this.#change(methodId, entityId, async ({ method, entity, secrets, records }) => {
      if (secrets.some(({ method_id }) => method_id === method.id)) return { method, made: undefined };
      const key = randomBytes(method.key_size);
      const { issuer, algorithm, digits, period } = method;
      const secret: MfaSecret = {
        ...{ method_id: method.id, issuer, algorithm, digits, period },
        key: key.toString('base64'),
        created: this.#parts.clock.millis(),
        used_steps: [],
        failures: 0,
      };
      await records.put(entity, { secrets: [...secrets, secret] });
      const url = otpauthUrl({ issuer, algorithm, digits, period, name: entity, key });
      return { method, made: { url, barcode: method.qr_size > 0 ? qrCodePng(url, method.qr_size).toString('base64') : '' } };
    });
  }

  /** An entity without one is no error. @throws BadRequest */
  async destroy(methodId: string, entityId: string): Promise<void> {
    await this.#change(methodId, entityId, async ({ method, entity, secrets, records }) => {
      const left = secrets.filter(({ method_id }) => method_id !== method.id);
      if (left.length < secrets.length) await (left.length > 0 ? records.put(entity, { secrets: left }) : records.delete(entity));
    });
  }

  async #change<T>(methodId: string, entityId: string, work: (found: Found) => Promise<T>): Promise<T> {
    if (methodId === '') throw new BadRequest('missing method ID');
    if (entityId === '') throw new BadRequest('missing entityID');
    const { store, identity } = this.#parts;
    const entity = (await identity.currentId(entityId)) ?? '';
    return store.transaction(async (tx) => {
      const method = (await mfaSettings.get(tx))?.methods.find(({ id }) => id === methodId);
      if (!method) throw new BadRequest(`configuration for method ID ${JSON.stringify(methodId)} does not exist`);
      const { entities, mfaSecrets } = identity.within(tx);
      if (entity === '' || !(await entities.has(entity))) throw new BadRequest('invalid entity ID');
      return work({ method, entity, secrets: (await mfaSecrets.get(entity))?.secrets ?? [], records: mfaSecrets });
    });
  }
}

interface Found {
  readonly method: TotpMethod;
  readonly entity: string;
  readonly secrets: readonly MfaSecret[];
  readonly records: Collection<{ secrets: MfaSecret[] }>;
}
