/** What `sys/policies/acl/<name>` answers. */
export interface SavedPolicy {
  readonly name: string;
  readonly policy: string;
  readonly version: number;
  readonly modified: string;
  readonly cas_required: boolean;
  readonly allow_wildcards_in_identity_templates: boolean;
  readonly allow_slashes_in_identity_templates: boolean;
  readonly expiration?: string;
}

/**
 * What replaces the text of a policy as it was read, or creates a policy. A write resets the settings that it leaves out, so it has all of
 * them; the version makes sure that they are still those which were read.
 */
export function policyWrite(text: string, read: SavedPolicy | undefined): Readonly<Record<string, unknown>> {
  if (!read) return { policy: text, cas: -1 };
  return {
    policy: text,
    cas: read.version,
    cas_required: read.cas_required,
    allow_wildcards_in_identity_templates: read.allow_wildcards_in_identity_templates,
    allow_slashes_in_identity_templates: read.allow_slashes_in_identity_templates,
    ...(read.expiration === undefined ? {} : { expiration: read.expiration }),
  };
}
