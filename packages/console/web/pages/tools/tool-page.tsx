import type { ReactNode } from 'react';
import { Page } from '../../parts/page.tsx';
import { Sections } from '../../parts/sections.tsx';
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
      <Sections label="Tools" sections={TOOLS.map(({ to, label }) => ({ to, label, current: to === tool }))} />
      <div className={classes.tool}>{children}</div>
    </Page>
  );
}
