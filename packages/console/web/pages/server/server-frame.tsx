import type { ReactNode } from 'react';
import { useForeign } from '../../api/own-routes.ts';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';
import classes from './server-frame.module.css';
import { serverPlaces } from './server-places.ts';

interface ServerFrameProps {
  readonly title: string;
  /** The address of this page, as `serverPlaces` has it. */
  readonly place: string;
  readonly beside?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The frame of pages about the server: the links between them, and the page. */
export function ServerFrame({ place, children, ...page }: ServerFrameProps) {
  const foreign = useForeign();
  return (
    <>
      <nav aria-label="Server" className={classes.places}>
        <ul>
          {serverPlaces
            .filter(({ own }) => !(own && foreign))
            .map(({ label, to }) => (
              <li key={to}>
                <To to={to} aria-current={to === place ? 'page' : undefined}>
                  {label}
                </To>
              </li>
            ))}
        </ul>
      </nav>
      <Page {...page}>{children}</Page>
    </>
  );
}
