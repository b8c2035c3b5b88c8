import { To } from './to.tsx';
import { usePlace } from './place.ts';
import classes from './sections.module.css';

export interface Section {
  readonly label: string;
  /** A page's pattern. */
  readonly to: string;
  readonly current: boolean;
}

/** The pages of one mount, beside each other. */
export function Sections({ label, sections }: { readonly label: string; readonly sections: readonly Section[] }) {
  const { params } = usePlace();
  return (
    <nav className={classes.sections} aria-label={label}>
      <ul>
        {sections.map(({ label: text, to, current }) => (
          <li key={to}>
            <To to={to} params={params} aria-current={current ? 'page' : undefined}>
              {text}
            </To>
          </li>
        ))}
      </ul>
    </nav>
  );
}
