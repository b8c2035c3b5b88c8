import type { ReactNode } from 'react';
import classes from './facts.module.css';

export interface Fact {
  readonly label: string;
  readonly value: ReactNode;
}

/** Labels and values, one below the other. A fact without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly (Fact | undefined | false)[] }) {
  return (
    <dl className={classes.facts}>
      {facts
        .filter(
          (fact): fact is Fact =>
            Boolean(fact) &&
            (fact as Fact).value !== undefined &&
            (fact as Fact).value !== null &&
            (fact as Fact).value !== false &&
            (fact as Fact).value !== '',
        )
        .map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
