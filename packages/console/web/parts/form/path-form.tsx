import { useDeclaredBody, type DeclaredBody } from '../../api/use-declared-body.ts';
import { makeStale, queryClient } from '../../api/queries.ts';
import { send, type Answer } from '../../api/send.ts';
import { Empty } from '../empty.tsx';
import { Loaded } from '../loaded.tsx';
import { Form, type FormProps } from './form.tsx';
import type { FormValues } from './form-values.ts';

export interface PathFormProps extends Omit<FormProps, 'id' | 'schema' | 'variant' | 'send'> {
  /** Whose declaration the fields are from, encoded. */
  readonly path: string;
  /** Names the draft, where the path is that of several forms. */
  readonly id?: string;
  /** Changes what is declared: adds the name of a new thing, leaves fields to it. */
  readonly shape?: (declared: DeclaredBody) => DeclaredBody;
  /** Paths whose reads a save makes stale. */
  readonly stale: readonly string[];
  /** In place of a POST of the values to the path. @throws ApiError */
  readonly send?: (values: FormValues) => Promise<Answer>;
  readonly done?: (answer: Answer, values: FormValues) => void;
}

/** A form of what the write of a path takes, as its engine declares it. */
export function PathForm({ path, id = path, shape, stale, send: act, done, ...form }: PathFormProps) {
  const declared = useDeclaredBody(path);
  return (
    <Loaded query={declared}>
      {(body) =>
        body === null ? (
          <Empty>Your token may not write here.</Empty>
        ) : (
          <Form
            {...form}
            {...(shape ? shape(body) : body)}
            id={id}
            send={async (values) => {
              const answer = await (act ? act(values) : send('POST', path, { body: values }));
              await makeStale(queryClient, stale);
              done?.(answer, values);
              return answer;
            }}
          />
        )
      }
    </Loaded>
  );
}
