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

/** The nouns of *Access*. `at`: the current one. */
export function AccessPlaces({ at }: { readonly at: (typeof PLACES)[number][0] }) {
  return <Sections label="Access" sections={PLACES.map(([label, to]) => ({ label, to, current: label === at }))} />;
}
