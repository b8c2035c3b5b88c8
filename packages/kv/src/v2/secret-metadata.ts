import { formatDuration } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { CustomMetadata, type SecretRecord } from './secret-record.ts';

/** What the wire says of a secret beside its data. */
export const SecretMetadata = Type.Object({
  cas_required: Type.Boolean(),
  created_time: Type.String(),
  current_metadata_version: Type.Integer(),
  current_version: Type.Integer(),
  custom_metadata: CustomMetadata,
  delete_version_after: Type.String({ description: 'As Go prints durations: 0s, 1h30m0s.' }),
  max_versions: Type.Integer(),
  metadata_cas_required: Type.Boolean(),
  oldest_version: Type.Integer(),
  updated_time: Type.String(),
  versions: Type.Record(
    Type.String(),
    Type.Object({ created_time: Type.String(), deletion_time: Type.String(), destroyed: Type.Boolean() }),
    { description: 'By version number.' },
  ),
});
export type SecretMetadata = Static<typeof SecretMetadata>;

export function secretMetadata(secret: SecretRecord): SecretMetadata {
  const { versions, latest: _data, delete_version_after: after, ...rest } = secret;
  return {
    ...rest,
    delete_version_after: formatDuration(after),
    versions: Object.fromEntries(versions.map(({ version, absent: _absent, slot: _slot, ...known }) => [String(version), known])),
  };
}
