import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ApiError } from '../api/api-error.ts';
import { useForeign } from '../api/own-routes.ts';
import { operationsOf, writtenPath, type Explanation } from '../api/explanation.ts';
import { send } from '../api/send.ts';
import { token } from '../api/token.ts';
import classes from './explanation.module.css';
import { ExplanationView } from './explanation.tsx';
import { To } from './to.tsx';

/** Under a refusal: which rule of the token decides, what is missing, and the page that tries other paths. */
export function Why({ error }: { readonly error: ApiError }) {
  const path = writtenPath(error.path);
  const operations = operationsOf(error.method);
  const { data, isPending, isError } = useQuery({
    queryKey: ['why', token.current() ?? '', path, operations],
    enabled: token.current() !== undefined,
    staleTime: 60_000,
    retry: false,
    queryFn: async ({ signal }) => {
      let explained: Explanation | undefined;
      for (const operation of operations) {
        explained = (await send<Explanation>('POST', 'sys/policies/explain-self', { body: { path, operation }, signal })).data;
        if (!explained.allowed) return explained;
      }
      return explained!;
    },
  });
  const foreign = useForeign();
  if (token.current() === undefined || foreign) return null;
  if (isPending) {
    return (
      <Text size="sm" role="status" aria-busy="true">
        Looking for the rule that decides…
      </Text>
    );
  }
  return (
    <div className={classes.why}>
      {isError && <Text size="sm">The server does not tell this token which rule decides.</Text>}
      {data?.allowed && <Text size="sm">The policies of the token allow this call: the refusal has another reason.</Text>}
      {data && !data.allowed && <ExplanationView explanation={data} />}
      <Text size="sm" mt={4}>
        <To to="/access/try" search={{ path, operation: data?.operation ?? operations[0] }}>
          Try this path
        </To>
      </Text>
    </div>
  );
}
