import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { send } from '../../api/send.ts';
import type { Remark } from '../../parts/code-editor-view.tsx';

/** What `sys/policies/check` answers. */
export interface PolicyCheck {
  readonly valid: boolean;
  readonly complaints: readonly Remark[];
  readonly left_out?: number;
}

const PAUSE = 350;

/** What the server says of a policy that is not saved, asked when the typing pauses. Undefined: not known, or the token may not ask. */
export function usePolicyCheck(text: string): PolicyCheck | undefined {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useQuery({
    queryKey: ['policy-check', settled],
    enabled: settled.trim() !== '',
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => (await send<PolicyCheck>('POST', 'sys/policies/check', { body: { policy: settled }, signal })).data,
  });
  return settled.trim() === '' ? undefined : data;
}
