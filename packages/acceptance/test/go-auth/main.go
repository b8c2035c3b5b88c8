// Logs in with the helpers of the Go API module, as programs in Go do, and uses what it gets. What it needs is in the environment.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"
	"github.com/hashicorp/vault/api/auth/userpass"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for name, walk := range map[string]func(context.Context) error{
		"AppRole": appRole, "AppRole with a wrapped secret id": wrappedSecretID, "userpass": userPass, "Kubernetes": kubernetesPod,
	} {
		if err := walk(ctx); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
	}
	fmt.Println("the Go module walked")
}

func appRole(ctx context.Context) error {
	secretID := &approle.SecretID{FromEnv: "SECRET_ID"}
	return both(ctx, func(roleID string) (api.AuthMethod, error) { return approle.NewAppRoleAuth(roleID, secretID) }, os.Getenv("ROLE_ID"), http.StatusBadRequest)
}

func wrappedSecretID(ctx context.Context) error {
	auth, err := approle.NewAppRoleAuth(os.Getenv("ROLE_ID"), &approle.SecretID{FromEnv: "WRAPPED_SECRET_ID"}, approle.WithWrappingToken())
	if err != nil {
		return err
	}
	return use(ctx, auth)
}

func userPass(ctx context.Context) error {
	password := &userpass.Password{FromEnv: "USER_PASSWORD"}
	return both(ctx, func(name string) (api.AuthMethod, error) { return userpass.NewUserpassAuth(name, password) }, os.Getenv("USER_NAME"), http.StatusBadRequest)
}

func kubernetesPod(ctx context.Context) error {
	path := kubernetes.WithServiceAccountTokenPath(os.Getenv("SERVICE_ACCOUNT_TOKEN"))
	return both(ctx, func(role string) (api.AuthMethod, error) { return kubernetes.NewKubernetesAuth(role, path) }, os.Getenv("KUBERNETES_ROLE"), http.StatusForbidden)
}

// both logs in by the right name, and expects the status for another one.
func both(ctx context.Context, method func(string) (api.AuthMethod, error), name string, refusal int) error {
	right, err := method(name)
	if err != nil {
		return err
	}
	if err := use(ctx, right); err != nil {
		return err
	}
	wrong, err := method("nobody-knows-this")
	if err != nil {
		return err
	}
	client, err := api.NewClient(nil)
	if err != nil {
		return err
	}
	_, err = client.Auth().Login(ctx, wrong)
	var refused *api.ResponseError
	if !errors.As(err, &refused) || refused.StatusCode != refusal {
		return fmt.Errorf("an unknown name is answered with %w, not with %d", err, refusal)
	}
	return nil
}

// use logs in, reads a secret, has the token renewed by the module's own watcher, and revokes it.
func use(ctx context.Context, method api.AuthMethod) error {
	client, err := api.NewClient(nil)
	if err != nil {
		return err
	}
	client.ClearToken()
	login, err := client.Auth().Login(ctx, method)
	if err != nil {
		return err
	}
	if !slices.Contains(login.Auth.Policies, "reader") || !login.Auth.Renewable || login.Auth.EntityID == "" {
		return fmt.Errorf("the login granted %+v", login.Auth)
	}
	secret, err := client.KVv2("secret").Get(ctx, "app")
	if err != nil {
		return err
	}
	if secret.Data["a"] != "1" {
		return fmt.Errorf("the secret is %v", secret.Data)
	}
	if _, err := client.KVv2("secret").Put(ctx, "app", map[string]any{"a": "2"}); err == nil {
		return errors.New("a policy that only reads lets it write")
	}
	if err := renew(ctx, client, login); err != nil {
		return err
	}
	if err := client.Auth().Token().RevokeSelfWithContext(ctx, ""); err != nil {
		return err
	}
	if _, err := client.Auth().Token().LookupSelfWithContext(ctx); err == nil {
		return errors.New("the revoked token lives on")
	}
	return nil
}

func renew(ctx context.Context, client *api.Client, login *api.Secret) error {
	watcher, err := client.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: login})
	if err != nil {
		return err
	}
	go watcher.Start()
	defer watcher.Stop()
	select {
	case renewal := <-watcher.RenewCh():
		if renewal.Secret.Auth.LeaseDuration <= 0 {
			return fmt.Errorf("the renewal gave %d s", renewal.Secret.Auth.LeaseDuration)
		}
		return nil
	case err := <-watcher.DoneCh():
		return fmt.Errorf("the watcher ended: %w", err)
	case <-ctx.Done():
		return ctx.Err()
	}
}
