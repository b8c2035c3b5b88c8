import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { To } from '../../parts/to.tsx';
import classes from './tools.module.css';

const TOOLS = [
  { to: '/tools/wrap', label: 'Wrap' },
  { to: '/tools/unwrap', label: 'Unwrap' },
  { to: '/tools/lookup', label: 'Look up' },
  { to: '/tools/random', label: 'Random' },
  { to: '/tools/hash', label: 'Hash' },
] as const;

interface ToolPageProps {
  readonly title: string;
  readonly tool: (typeof TOOLS)[number]['to'];
  readonly children: ReactNode;
}

/** One of the tools, with the way to the others. */
export function ToolPage({ title, tool, children }: ToolPageProps) {
  return (
    <Page title={title}>
      <nav aria-label="Tools">
        <ul className={classes.tools}>
          {TOOLS.map(({ to, label }) => (
            <li key={to}>
              <To to={to} aria-current={to === tool ? 'page' : undefined}>
                {label}
              </To>
            </li>
          ))}
        </ul>
      </nav>
      <div className={classes.tool}>{children}</div>
    </Page>
  );
}
