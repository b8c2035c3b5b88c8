import { Title } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import classes from './card.module.css';

/** The frame of pages without a session: one narrow column, with the name of the product above. */
export function Card({ title, wide = false, children }: { readonly title: string; readonly wide?: boolean; readonly children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Strongroom`;
  }, [title]);
  return (
    <main className={classes.main}>
      <div className={classes.column} data-wide={wide}>
        <div className={classes.brand} aria-hidden>
          Strongroom
        </div>
        <section className={classes.card}>
          <Title order={1} size="h3" className={classes.title}>
            {title}
          </Title>
          {children}
        </section>
      </div>
    </main>
  );
}
