import { useForeign } from '../../api/own-routes.ts';
import { Sections } from '../../parts/sections.tsx';

const PLACES = [
  ['Policies', '/access/policies'],
  ['Try a path', '/access/try'],
  ['Who may', '/access/who'],
  ['Entities', '/access/entities'],
  ['Groups', '/access/groups'],
  ['Tokens', '/access/tokens'],
  ['Token roles', '/access/token-roles'],
  ['Password policies', '/access/password-policies'],
] as const;

/** They need paths that another server does not have. */
const OWN: readonly string[] = ['/access/try', '/access/who'];

/** The nouns of *Access*. `at`: the current one. */
export function AccessPlaces({ at }: { readonly at: (typeof PLACES)[number][0] }) {
  const foreign = useForeign();
  const places = PLACES.filter(([, to]) => !(foreign && OWN.includes(to)));
  return <Sections label="Access" sections={places.map(([label, to]) => ({ label, to, current: label === at }))} />;
}
