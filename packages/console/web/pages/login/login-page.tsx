import { useSearch } from '@tanstack/react-router';
import { useAddresses } from '../../parts/place.ts';
import { Card } from './card.tsx';
import { LoginChoice } from './login-choice.tsx';
import { pageAfterLogin } from './page-after-login.ts';

/** Login: `?with=auth/corp` offers one mount first, `?to=/kv/…` is the page to open afterwards. */
export default function LoginPage() {
  const addresses = useAddresses();
  const { to, with: first } = useSearch({ strict: false }) as { to?: string; with?: string };
  const page = pageAfterLogin(to);
  return (
    <Card title="Log in">
      <LoginChoice first={first} to={page} done={() => addresses.replace(`/ui${page}`)} />
    </Card>
  );
}
