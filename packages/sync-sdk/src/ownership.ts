/** The tag or label that every synced secret carries, with an empty value, for tools that look for it. */
export const SYNCED_TAG = 'hashicorp:vault';

/** The tag or label whose value is `formatMark`. Fits the alphabets of AWS tags, Azure tags and Google labels. */
export const OWNER_TAG = 'strongroom-owner';

/** Whose a remote secret is. Both ids are 24 hex digits, made at random by the host, and never used again. */
export interface OwnershipMark {
  readonly destination: string;
  /** One per remote secret: an association, or one key of it. */
  readonly association: string;
}

/** `<destination>_<association>`: 49 characters of `0-9a-f_`. */
export function formatMark(mark: OwnershipMark): string {
  return `${mark.destination}_${mark.association}`;
}

/** Undefined for what is no mark, whatever it is. */
export function parseMark(text: string | null | undefined): OwnershipMark | undefined {
  const [, destination, association] = /^([0-9a-f]{24})_([0-9a-f]{24})$/.exec(text ?? '') ?? [];
  return destination === undefined || association === undefined ? undefined : { destination, association };
}
