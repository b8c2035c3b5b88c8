import { Alert, Text } from '@mantine/core';
import { isPicture, isSecret, openFields } from '../../api/marked-secrets.ts';
import { resolved, type ApiDocument, type Schema } from '../../api/openapi.ts';
import type { Answer } from '../../api/send.ts';
import { DeclaredAnswer } from '../../parts/declared-answer.tsx';
import { IssuedPanel } from '../../parts/issued-panel.tsx';
import { WrappedLink } from '../../parts/wrapped-link.tsx';

/** What a write answered. */
export interface Written {
  readonly answer: Answer;
  /** There was nothing before: the form that was filled is gone, with what it would say. */
  readonly made: boolean;
  /** Why what was shown once is on the page no longer. */
  readonly over?: string;
}

interface WriteAnswerProps {
  readonly document: ApiDocument;
  /** Of `data`. */
  readonly schema: Schema;
  readonly written: Written;
  /** No other call shows the secrets of the answer. */
  readonly once: boolean;
  readonly over: (why: string) => void;
}

/** What a write answered: a credential or a key that is shown once with its time and its end, anything else as labels and values, secrets hidden. */
export function WriteAnswer({ document, schema, written, once, over }: WriteAnswerProps) {
  const { answer, made } = written;
  if (written.over !== undefined) {
    return (
      <Text role="status" size="sm">
        {written.over}
      </Text>
    );
  }
  if (answer.wrapInfo) return <WrappedLink wrap={answer.wrapInfo} over={over} />;
  if (once && Object.keys(answer.data).some((name) => isSecret(document, schema, name))) {
    const fields = Object.entries(schema.properties ?? {});
    const pictures = fields.flatMap(([name, field]) => (isPicture(resolved(document, field)) ? [name] : []));
    return (
      <IssuedPanel answer={answer} plain={openFields(document, schema)} pictures={pictures} again={false} end={undefined} over={over} />
    );
  }
  if (Object.keys(answer.data).length > 0) {
    return (
      <Alert key={answer.requestId} ref={intoView} role="status" variant="light" title="Done">
        <DeclaredAnswer document={document} schema={schema} data={answer.data} hideUnknown copies />
      </Alert>
    );
  }
  if (!made) return null;
  return (
    <>
      <Text role="status" size="sm" c="dimmed">
        Saved.
      </Text>
      {answer.warnings.map((warning) => (
        <Alert key={warning} color="yellow" variant="light" role="status">
          {warning}
        </Alert>
      ))}
    </>
  );
}

/** A form may be longer than the window. */
function intoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}
