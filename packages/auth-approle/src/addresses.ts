import { BadRequest, cidrOutside, isCidr, sharedCidrs } from '@strongroom/engine-sdk';

/** @throws BadRequest for what is neither an address nor a CIDR block */
export function requireCidrs(blocks: readonly string[]): void {
  const wrong = blocks.find((block) => !isCidr(block));
  if (wrong !== undefined) throw new BadRequest(`failed to validate CIDR blocks: invalid CIDR address: ${wrong}`);
}

/** @throws BadRequest where a secret id would be usable outside the addresses of its role */
export function requireWithinRole(blocks: readonly string[], ofRole: readonly string[]): void {
  if (cidrOutside(blocks, ofRole) === undefined) return;
  throw new BadRequest(
    `failed to verify subset relationship between CIDR blocks on the role ${shown(ofRole)} and CIDR blocks on the secret ID ${shown(blocks)}`,
  );
}

/**
 * Where a token may be used: the addresses of the secret id, as far as the role allows them now. Undefined if the two share none; empty for everywhere.
 */
export function tokenAddresses(ofRole: readonly string[], ofSecret: readonly string[]): readonly string[] | undefined {
  if (ofRole.length === 0 || ofSecret.length === 0) return [...ofRole, ...ofSecret];
  const shared = sharedCidrs(ofSecret, ofRole);
  return shared.length > 0 ? shared : undefined;
}

export function addressRefused(address: string, by: 'secret ID' | 'role'): BadRequest {
  return new BadRequest(`source address ${JSON.stringify(address)} unauthorized by CIDR restrictions on the ${by}`);
}

function shown(blocks: readonly string[]): string {
  return `[${blocks.map((block) => JSON.stringify(block)).join(' ')}]`;
}
