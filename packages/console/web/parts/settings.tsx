import { PathForm, type PathFormProps } from './form/path-form.tsx';
import { SettingsTest, type TestOfSettings } from './settings-test.tsx';

interface SettingsProps extends Omit<PathFormProps, 'submit'> {
  readonly submit?: string;
  readonly test?: TestOfSettings | undefined;
}

/** A form of what is stored at a path, with the test of its settings beside it: what is typed is tried before it is saved. */
export function Settings({ test, submit = 'Save', ...form }: SettingsProps) {
  return (
    <PathForm
      {...form}
      submit={submit}
      beside={test && ((values, touched) => <SettingsTest test={test} values={values} unsaved={touched} />)}
    />
  );
}
