import { Skeleton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { CodeEditorProps } from './code-editor-view.tsx';

const View = lazy(() => import('./code-editor-view.tsx'));

/** A text editor with line numbers, colours, complaints by line and completion. It is loaded when it is first drawn. */
export function CodeEditor(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Skeleton height={320} role="status" aria-label="Loading the editor" />}>
      <View {...props} />
    </Suspense>
  );
}
