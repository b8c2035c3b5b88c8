import { BadRequest, decodeValue, unrecognizedFields } from '@strongroom/engine-sdk';

/**
 * Checks `options.cas` of a write against the version that it would replace; 0 means that there must be none.
 * @throws BadRequest
 */
export function checkAndSet(options: Readonly<Record<string, unknown>> | undefined, required: boolean, current: number): void {
  const raw = options && Object.hasOwn(options, 'cas') ? options['cas'] : undefined;
  if (raw === undefined) {
    if (required) throw new BadRequest('check-and-set parameter required for this call');
    return;
  }
  if (wholeNumber(raw) !== current) throw new BadRequest('check-and-set parameter did not match the current version');
}

/** Warns of options that had no effect: with a misspelt `cas` a write replaces whatever is there. */
export function ignoredOptions(options: Readonly<Record<string, unknown>> | undefined): { warnings?: readonly string[] } {
  const unknown = options ? Object.keys(options).filter((name) => name !== 'cas') : [];
  return unknown.length === 0 ? {} : { warnings: unrecognizedFields(unknown, ['cas'], 'options.') };
}

function wholeNumber(raw: unknown): unknown {
  try {
    return decodeValue('int', raw);
  } catch (error) {
    throw new BadRequest(`error parsing check-and-set parameter: ${(error as Error).message}`);
  }
}

/** The same for `metadata_cas`; `current` is undefined for a secret that is not there yet. @throws BadRequest */
export function checkMetadataCas(cas: number | undefined, required: boolean, current: number | undefined): void {
  if (cas === undefined) {
    if (required) throw new BadRequest('metadata check-and-set parameter required for this call');
    return;
  }
  if (current === undefined) {
    if (cas !== 0) throw new BadRequest('metadata_cas must be 0 when creating new metadata');
  } else if (cas !== current) {
    throw new BadRequest('metadata check-and-set parameter does not match the current version');
  }
}
