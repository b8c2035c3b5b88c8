import { BadRequest, f } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

/** More would not be tried within the time of a request. */
const MOST_PLACES = 5;

/** Where temporary credentials are obtained, besides `sts_endpoint`. Absent in records of versions without them. */
export const StsPlacesRecord = Type.Object({
  /** '' for the region of the configuration. */
  sts_region: Type.Optional(Type.String()),
  /** As many as regions, in the order in which they are tried. */
  sts_fallback_endpoints: Type.Optional(Type.Array(Type.String())),
  sts_fallback_regions: Type.Optional(Type.Array(Type.String())),
});
export type StsPlacesRecord = Static<typeof StsPlacesRecord>;

export const stsPlacesParameters = {
  sts_region: f.string('Region of STS, where it is not region.', { default: '' }),
  sts_fallback_endpoints: f.commaStrings('HTTP endpoints of STS that are tried in this order where sts_endpoint does not answer.', {
    default: [],
  }),
  sts_fallback_regions: f.commaStrings('The region of each of sts_fallback_endpoints, in the same order.', { default: [] }),
};

/** @throws BadRequest */
export function stsPlacesOf({
  sts_region,
  sts_fallback_endpoints: endpoints,
  sts_fallback_regions: regions,
}: Required<StsPlacesRecord>): StsPlacesRecord {
  requireRegion('sts_region', sts_region);
  if (endpoints.length !== regions.length)
    throw new BadRequest(
      `sts_fallback_endpoints and sts_fallback_regions must have the same length: ${endpoints.length} and ${regions.length} were given`,
    );
  if (endpoints.length > MOST_PLACES) throw new BadRequest(`sts_fallback_endpoints must be at most ${MOST_PLACES}`);
  for (const endpoint of endpoints) requireEndpoint('sts_fallback_endpoints', endpoint);
  for (const region of regions) {
    if (region === '') throw new BadRequest('sts_fallback_regions must not hold an empty region');
    requireRegion('sts_fallback_regions', region);
  }
  return {
    ...(sts_region === '' ? {} : { sts_region }),
    ...(endpoints.length === 0 ? {} : { sts_fallback_endpoints: endpoints, sts_fallback_regions: regions }),
  };
}

/** What a read shows: those that are set. */
export function visiblePlaces({ sts_region, sts_fallback_endpoints, sts_fallback_regions }: StsPlacesRecord): StsPlacesRecord {
  return {
    ...(sts_region === undefined ? {} : { sts_region }),
    ...(sts_fallback_endpoints === undefined ? {} : { sts_fallback_endpoints }),
    ...(sts_fallback_regions === undefined ? {} : { sts_fallback_regions }),
  };
}

/** @throws BadRequest */
export function requireEndpoint(field: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw new BadRequest(`${field} must be a URL that begins with https:// or http://`);
  // It is shown to whoever reads the configuration.
  if (url.username !== '' || url.password !== '') throw new BadRequest(`${field} must not hold a user name or a password`);
}

/** Whoever reads an identity token on its way may use it. @throws BadRequest */
export function requireSecret(endpoint: string): void {
  if (endpoint === '') return;
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' || ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)) return;
  throw new BadRequest('with role_arn, endpoints of STS must begin with https://: they receive identity tokens');
}

/** '' is none. @throws BadRequest */
export function requireRegion(field: string, text: string): void {
  if (!/^[a-zA-Z0-9-]{0,64}$/.test(text)) throw new BadRequest(`${field} must be the name of a region, such as eu-central-1`);
}
