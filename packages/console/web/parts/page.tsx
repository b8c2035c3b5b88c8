import { Group, Title } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import classes from './page.module.css';

interface PageProps {
  readonly title: string;
  /** The way here: links, outermost first. */
  readonly crumbs?: readonly ReactNode[];
  readonly actions?: ReactNode;
  /** Beside the title: state, version. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}

/** Every page's frame: one `h1`, which takes the focus after navigation, the way here, and the page's actions. */
export function Page({ title, crumbs = [], actions, beside, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Strongroom`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <>
      {crumbs.length > 0 && (
        <nav aria-label="Where this page is" className={classes.crumbs}>
          <ol>
            {crumbs.map((crumb, at) => (
              <li key={at}>{crumb}</li>
            ))}
          </ol>
        </nav>
      )}
      <div className={classes.head}>
        <Group gap="sm">
          <Title order={1} size="h2" ref={heading} tabIndex={-1}>
            {title}
          </Title>
          {beside}
        </Group>
        {actions && <Group gap="xs">{actions}</Group>}
      </div>
      {children}
    </>
  );
}
