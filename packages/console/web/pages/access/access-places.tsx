import { To } from '../../parts/to.tsx';
import classes from './access.module.css';

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

/** The nouns of *Access*, each a link. `at`: the current one. */
export function AccessPlaces({ at }: { readonly at: (typeof PLACES)[number][0] }) {
  return (
    <nav aria-label="Access" className={classes.places}>
      <ul>
        {PLACES.map(([label, to]) => (
          <li key={to}>
            <To to={to} aria-current={label === at ? 'page' : undefined}>
              {label}
            </To>
          </li>
        ))}
      </ul>
    </nav>
  );
}
