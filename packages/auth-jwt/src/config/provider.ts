import { BadRequest } from '@strongroom/engine-sdk';

/** Providers that write several groups into one text, and what stands between the names. They need no service of theirs. */
const SEPARATORS = new Map([
  ['ibmisam', ' '],
  ['secureauth', ','],
]);
/** Those that need calls to a cloud, or files of a pod. */
const ELSEWHERE = ['azure', 'gsuite', 'kubernetes'];

/** @throws BadRequest for a provider that this server does not know */
export function checkProvider(settings: Readonly<Record<string, unknown>>): void {
  if (Object.keys(settings).length === 0) return;
  const { provider } = settings;
  if (typeof provider !== 'string' || provider === '') throw new BadRequest('invalid provider_config: it must name its provider');
  if (SEPARATORS.has(provider)) return;
  const supported = [...SEPARATORS.keys()].join(', ');
  if (ELSEWHERE.includes(provider)) {
    throw new BadRequest(`invalid provider_config: provider "${provider}" is not supported by this server; supported are ${supported}`);
  }
  throw new BadRequest(`invalid provider_config: provider ${JSON.stringify(provider)} not found in custom providers`);
}

/** What stands between the names of groups where a provider writes them into one text; undefined where a text is one group. */
export function groupSeparator(settings: Readonly<Record<string, unknown>>): string | undefined {
  return SEPARATORS.get(String(settings['provider']));
}
