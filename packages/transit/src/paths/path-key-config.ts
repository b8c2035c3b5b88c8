import { BadRequest, f, path, type AnyPath } from '@strongroom/engine-sdk';
import type { KeyStore } from '../keys/key-store.ts';
import type { KeyRecord } from '../stored/records.ts';
import { replanRotation } from '../keys/rotation-plan.ts';
import { ShownKey } from '../keys/shown-key.ts';
import { answerKey, autoRotatePeriod, checkPeriod } from './path-keys.ts';
import { name } from './shared-fields.ts';

/** `keys/<name>/config` and `keys/<name>/trim`. */
export function keyConfigPaths(keys: KeyStore): AnyPath[] {
  return [configPath(keys), trimPath(keys)];
}

interface Settings {
  readonly min_decryption_version?: number | undefined;
  readonly min_encryption_version?: number | undefined;
  readonly deletion_allowed?: boolean | undefined;
  readonly exportable?: boolean | undefined;
  readonly allow_plaintext_backup?: boolean | undefined;
  readonly auto_rotate_period?: number | undefined;
}

function configPath(keys: KeyStore): AnyPath {
  return path('keys/{name}/config', {
    synopsis: 'The settings of a key.',
    description: 'A write changes the fields that are sent.',
    fields: {
      name,
      min_decryption_version: f.int('The first version that decrypts and verifies.'),
      min_encryption_version: f.int('The first version that a caller may choose to encrypt or sign with; 0 for any that decrypts.'),
      deletion_allowed: f.bool('Whether the key can be deleted.'),
      exportable: f.bool('Whether the key can be exported. Cannot be taken back.'),
      allow_plaintext_backup: f.bool('Whether the key can be backed up. Cannot be taken back.'),
      auto_rotate_period: autoRotatePeriod,
    },
  }).update({
    summary: 'Changes the settings of a key.',
    response: ShownKey,
    handle: async ({ data, storage }) => {
      const next = await keys.change(storage, data.name, async (key, tx) => {
        const changed = withSettings(key, data);
        if (changed.auto_rotate_period !== key.auto_rotate_period) await replanRotation(tx, data.name, changed);
        return changed;
      });
      if (!next) throw new BadRequest(`no existing key named ${data.name} could be found`);
      const forced = data.min_decryption_version === 0;
      const warning = 'versions of keys are numbered from 1: min_decryption_version was set to 1';
      return answerKey(keys, storage, data.name, next, forced ? [warning] : []);
    },
  });
}

/** @throws BadRequest */
function withSettings(key: KeyRecord, sent: Settings): KeyRecord {
  const decryption = leastVersion(
    'decryption',
    sent.min_decryption_version === 0 ? 1 : sent.min_decryption_version,
    key.min_decryption_version,
    key,
  );
  const encryption = leastVersion('encryption', sent.min_encryption_version, key.min_encryption_version, key);
  if (encryption > 0 && encryption < decryption)
    throw new BadRequest(
      `cannot set min encryption/decryption values; min encryption version of ${encryption} must be greater than or equal to min decryption version of ${decryption}`,
    );
  if (key.min_available_version > encryption) throw new BadRequest('min encryption version should not be less than min available version');
  if (key.min_available_version > decryption) throw new BadRequest('min decryption version should not be less than min available version');
  const period = sent.auto_rotate_period ?? key.auto_rotate_period;
  if (period !== key.auto_rotate_period) checkPeriod(period);
  return {
    ...key,
    min_decryption_version: decryption,
    min_encryption_version: encryption,
    deletion_allowed: sent.deletion_allowed ?? key.deletion_allowed,
    exportable: key.exportable || sent.exportable === true,
    allow_plaintext_backup: key.allow_plaintext_backup || sent.allow_plaintext_backup === true,
    auto_rotate_period: period,
  };
}

function leastVersion(noun: string, sent: number | undefined, before: number, key: KeyRecord): number {
  if (sent === undefined) return before;
  if (sent < 0) throw new BadRequest(`min ${noun} version cannot be negative`);
  if (sent > key.latest_version)
    throw new BadRequest(`cannot set min ${noun} version of ${sent}, latest key version is ${key.latest_version}`);
  return sent;
}

function trimPath(keys: KeyStore): AnyPath {
  return path('keys/{name}/trim', {
    synopsis: 'Removes old versions of a key.',
    description: 'They are gone for good, and with them what they encrypted.',
    fields: {
      name,
      min_available_version: f.int(
        'The first version that stays; at most min_decryption_version and min_encryption_version, both of which must be set.',
      ),
    },
  }).update({
    summary: 'Removes the versions before one.',
    response: ShownKey,
    handle: async ({ data, storage }) => {
      const least = data.min_available_version;
      const next = await keys.change(storage, data.name, async (key, tx) => {
        if (least === undefined) throw new BadRequest('missing min_available_version');
        checkTrim(key, least);
        await keys.dropVersions(tx, key, least);
        return { ...key, min_available_version: least };
      });
      if (!next) throw new BadRequest('invalid key name');
      return answerKey(keys, storage, data.name, next);
    },
  });
}

/** @throws BadRequest */
function checkTrim(key: KeyRecord, least: number): void {
  if (least < key.min_available_version) throw new BadRequest('minimum available version cannot be decremented');
  if (key.min_encryption_version === 0)
    throw new BadRequest('minimum available version cannot be set when minimum encryption version is not set');
  if (least > key.min_encryption_version)
    throw new BadRequest('minimum available version cannot be greater than minimum encryption version');
  if (least > key.min_decryption_version)
    throw new BadRequest('minimum available version cannot be greater than minimum decryption version');
  if (least === 0) throw new BadRequest('minimum available version should be positive');
}
