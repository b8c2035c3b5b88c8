import { To } from './to.tsx';
import { usePlace } from './place.ts';
import classes from './sections.module.css';

export interface Section {
  readonly label: string;
  /** A page's pattern. */
  readonly to: string;
  /** Where it is one page whose parts are in its query. */
  readonly search?: Readonly<Record<string, string | undefined>>;
  readonly current: boolean;
}

/** Pages that stand beside each other, each a link. */
export function Sections({ label, sections }: { readonly label: string; readonly sections: readonly Section[] }) {
  const { params } = usePlace();
  return (
    <nav className={classes.sections} aria-label={label}>
      <ul>
        {sections.map(({ label: text, to, search, current }) => (
          <li key={text}>
            <To to={to} params={params} {...(search ? { search } : {})} aria-current={current ? 'page' : undefined}>
              {text}
            </To>
          </li>
        ))}
      </ul>
    </nav>
  );
}
