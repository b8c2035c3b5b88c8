import { Type, type Static } from 'typebox';
import { CustomMetadata, type SecretRecord, type VersionRecord } from './secret-record.ts';

/** What the wire says of a version beside its data. */
export const VersionMetadata = Type.Object({
  created_time: Type.String(),
  custom_metadata: CustomMetadata,
  deletion_time: Type.String(),
  destroyed: Type.Boolean(),
  version: Type.Integer(),
});
export type VersionMetadata = Static<typeof VersionMetadata>;

export function versionMetadata(secret: SecretRecord, version: VersionRecord): VersionMetadata {
  return {
    created_time: version.created_time,
    custom_metadata: secret.custom_metadata,
    deletion_time: version.deletion_time,
    destroyed: version.destroyed,
    version: version.version,
  };
}
