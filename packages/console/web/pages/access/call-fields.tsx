import { NativeSelect, TextInput } from '@mantine/core';
import { OPERATIONS } from '../../api/explanation.ts';

/** A call that nobody makes: its path, below `/v1/`, and what it would do there. */
export interface AskedCall {
  readonly path: string;
  readonly operation: string;
}

interface CallFieldsProps {
  readonly call: AskedCall;
  readonly onChange: (call: AskedCall) => void;
}

/** The path and the operation of a question to the policies. */
export function CallFields({ call, onChange }: CallFieldsProps) {
  return (
    <>
      <TextInput
        label="Path"
        placeholder="secret/data/shop/database"
        spellCheck={false}
        autoComplete="off"
        value={call.path}
        onChange={({ currentTarget }) => onChange({ ...call, path: currentTarget.value })}
        required
      />
      <NativeSelect
        label="Operation"
        data={[...OPERATIONS]}
        value={call.operation}
        onChange={({ currentTarget }) => onChange({ ...call, operation: currentTarget.value })}
      />
    </>
  );
}
