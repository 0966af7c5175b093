package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/linode/linodego"
)

// walked is the result: the requests by method of the client, and what went wrong.
type walked struct {
	Requests map[string][]string `json:"requests"`
	Problems []string            `json:"problems"`
}

var background = context.Background()

// walk uses the service with an unrestricted token; the list of grants is read with the token of a restricted user.
func walk() any {
	client, transport := connect("TOKEN")
	problems := []string{}
	for name, part := range map[string]func(*linodego.Client){
		"domains": domains, "instances": instances, "images": images, "scripts": scripts, "catalogue": catalogue, "tags": tags, "profile": profile,
		"second factor": secondFactor, "phone": phone, "tokens": tokens,
	} {
		func() {
			defer func() {
				if problem := recover(); problem != nil {
					problems = append(problems, fmt.Sprintf("%s: %v", name, problem))
				}
			}()
			part(client)
		}()
	}
	restricted, others := connect("RESTRICTED_TOKEN")
	grants := need(restricted.GrantsList(background))
	check(grants.Global.AddLinodes && !grants.Global.AddStackScripts && len(grants.Linode) == 1 && grants.Linode[0].Label == "seeded", "grants", grants)
	for name, requests := range others.seen {
		transport.seen[name] = append(transport.seen[name], requests...)
	}
	return walked{transport.seen, sortedNames(problems)}
}

func connect(token string) (*linodego.Client, *recorder) {
	client, transport := newClient(http.DefaultTransport)
	client.SetBaseURL(os.Getenv("SERVICE")).SetAPIVersion(os.Getenv("VERSION")).SetToken(os.Getenv(token)).SetPollDelay(10 * time.Millisecond)
	client.SetRetryCount(0)
	return client, transport
}

func domains(client *linodego.Client) {
	domain := need(client.CreateDomain(background, linodego.DomainCreateOptions{Domain: "walk.example", Type: "master", SOAEmail: "host@walk.example"}))
	check(need(client.GetDomain(background, domain.ID)).Domain == "walk.example", "domain", domain)
	update := domain.GetUpdateOptions()
	update.TTLSec = 3600
	check(need(client.UpdateDomain(background, domain.ID, update)).TTLSec == 3600, "updated domain", nil)
	record := need(client.CreateDomainRecord(background, domain.ID, linodego.DomainRecordCreateOptions{Type: "A", Name: "www", Target: "192.0.2.1", TTLSec: 300}))
	change := record.GetUpdateOptions()
	change.Target = "192.0.2.2"
	check(need(client.UpdateDomainRecord(background, domain.ID, record.ID, change)).Target == "192.0.2.2", "updated record", nil)
	check(need(client.GetDomainRecord(background, domain.ID, record.ID)).TTLSec == 300, "record", nil)
	mail := need(client.CreateDomainRecord(background, domain.ID, linodego.DomainRecordCreateOptions{Type: "MX", Target: "mail.example.net"}))
	need(client.UpdateDomainRecord(background, domain.ID, mail.ID, mail.GetUpdateOptions()))
	check(len(need(client.ListDomainRecords(background, domain.ID, nil))) == 2, "records", nil)
	pass(30)
	check(strings.Contains(strings.Join(need(client.GetDomainZoneFile(background, domain.ID)).ZoneFile, "\n"), "192.0.2.2"), "zone file", nil)
	clone := need(client.CloneDomain(background, domain.ID, linodego.DomainCloneOptions{Domain: "clone.example"}))
	check(len(need(client.ListDomainRecords(background, clone.ID, nil))) == 2, "cloned records", nil)
	// The client sends the server's address as remove_nameserver, which the service cannot know.
	_, problem := client.ImportDomain(background, linodego.DomainImportOptions{Domain: "example.test", RemoteNameserver: "127.0.0.1"})
	check(problem != nil && strings.Contains(problem.Error(), "remote_nameserver"), "import", problem)
	check(len(need(client.ListDomains(background, &linodego.ListOptions{Filter: `{"domain": "clone.example"}`}))) == 1, "filtered domains", nil)
	none(client.DeleteDomainRecord(background, domain.ID, record.ID))
	none(client.DeleteDomain(background, domain.ID))
	_, problem = client.GetDomain(background, domain.ID)
	check(linodego.IsNotFound(problem), "deleted domain", problem)
}

func instances(client *linodego.Client) {
	script := need(client.CreateStackscript(background, linodego.StackscriptCreateOptions{Label: "deploy", Images: []string{"linode/debian12"},
		Script: "#!/bin/sh\n# <UDF name=\"db\" label=\"Database\"/>\n"}))
	instance := need(client.CreateInstance(background, linodego.InstanceCreateOptions{Region: "us-east", Type: "g6-standard-1", Label: "walk", RootPass: "correct horse 9",
		Image: "linode/debian12", StackScriptID: script.ID, StackScriptData: map[string]string{"db": "main"}, Tags: []string{"walked"}}))
	check(instance.Image == "linode/debian12", "image of an instance", instance.Image)
	pass(30)
	check(need(client.WaitForInstanceStatus(background, instance.ID, linodego.InstanceRunning, 5)).Label == "walk", "instance", nil)
	check(need(client.RenameInstance(background, instance.ID, "renamed")).Label == "renamed", "renamed instance", nil)
	update := need(client.GetInstance(background, instance.ID)).GetUpdateOptions()
	update.Label = "walked"
	check(need(client.UpdateInstance(background, instance.ID, update)).Label == "walked", "updated instance", nil)
	check(len(need(client.ListInstances(background, &linodego.ListOptions{Filter: `{"image": "linode/debian12"}`}))) == 1, "filtered instances", nil)
	configs := need(client.ListInstanceConfigs(background, instance.ID, nil))
	created := configs[0].GetCreateOptions()
	created.Label = "second"
	config := need(client.CreateInstanceConfig(background, instance.ID, created))
	check(config.Devices.SDA.DiskID == configs[0].Devices.SDA.DiskID, "devices of a configuration profile", config)
	// The client filters by a field that the service, like its description, does not allow.
	_, problem := client.GetVLANIPAMAddress(background, instance.ID, "none")
	check(problem != nil && strings.Contains(problem.Error(), "Cannot filter on interfaces"), "VLAN", problem)
	none(client.BootInstance(background, instance.ID, configs[0].ID))
	pass(30)
	none(client.EnableInstanceBackups(background, instance.ID))
	snapshot := need(client.CreateInstanceSnapshot(background, instance.ID, "before"))
	pass(600)
	need(client.WaitForSnapshotStatus(background, instance.ID, snapshot.ID, linodego.SnapshotSuccessful, 5))
	check(need(client.GetInstanceSnapshot(background, instance.ID, snapshot.ID)).Label == "before", "snapshot", nil)
	check(need(client.GetInstanceBackups(background, instance.ID)).Snapshot.Current.ID == snapshot.ID, "backups", nil)
	none(client.RestoreInstanceBackup(background, instance.ID, snapshot.ID, linodego.RestoreInstanceOptions{LinodeID: instance.ID, Overwrite: true}))
	pass(30)
	clone := need(client.CloneInstance(background, instance.ID, linodego.InstanceCloneOptions{Region: "us-east", Type: "g6-standard-1"}))
	pass(60)
	empty := need(client.CreateInstance(background, linodego.InstanceCreateOptions{Region: "us-east", Type: "g6-standard-2"}))
	target := need(client.CloneInstance(background, instance.ID, linodego.InstanceCloneOptions{LinodeID: empty.ID}))
	check(target.ID == empty.ID, "target of a clone", target)
	pass(60)
	none(client.CancelInstanceBackups(background, instance.ID))
	disk := need(client.ListInstanceConfigs(background, instance.ID, nil))[0].Devices.SDA.DiskID
	image := need(client.CreateImage(background, linodego.ImageCreateOptions{DiskID: disk, Label: "of a disk"}))
	pass(60)
	need(client.WaitForImageStatus(background, image.ID, linodego.ImageStatusAvailable, 5))
	none(client.DeleteImage(background, image.ID))
	none(client.DeleteInstance(background, clone.ID))
	none(client.DeleteInstance(background, instance.ID))
}

func images(client *linodego.Client) {
	check(need(client.GetImage(background, "linode/debian12")).ID == "linode/debian12", "image", nil)
	// The forms of filters that Terraform's provider sends.
	public := `{"+and": [{"+or": [{"is_public": "true"}, {"is_public": true}]}], "+order": "desc"}`
	check(len(need(client.ListImages(background, &linodego.ListOptions{Filter: public}))) > 10, "images", nil)
	data := func() io.Reader {
		packed := &bytes.Buffer{}
		writer := gzip.NewWriter(packed)
		writer.Write(make([]byte, 1<<20))
		writer.Close()
		return packed
	}
	image := need(client.UploadImage(background, linodego.ImageUploadOptions{Region: "us-east", Label: "uploaded", Image: data()}))
	check(need(client.GetImage(background, image.ID)).Status == linodego.ImageStatusAvailable, "uploaded image", nil)
	second, url, problem := client.CreateImageUpload(background, linodego.ImageCreateUploadOptions{Region: "us-east", Label: "announced"})
	none(problem)
	none(client.UploadImageToURL(background, url, data()))
	text := "changed"
	check(need(client.UpdateImage(background, second.ID, linodego.ImageUpdateOptions{Label: "kept", Description: &text})).Label == "kept", "updated image", nil)
	update := need(client.GetImage(background, second.ID)).GetUpdateOptions()
	need(client.UpdateImage(background, second.ID, update))
	// It reads the image until it is in a region, which images here do not have.
	short, cancel := context.WithTimeout(background, 200*time.Millisecond)
	defer cancel()
	_, problem = client.WaitForImageRegionStatus(short, second.ID, "us-east", linodego.ImageRegionStatusAvailable)
	check(problem != nil && strings.Contains(problem.Error(), "deadline"), "region of an image", problem)
	none(client.DeleteImage(background, second.ID))
}

func scripts(client *linodego.Client) {
	script := need(client.CreateStackscript(background, linodego.StackscriptCreateOptions{Label: "walk", Images: []string{"linode/debian12"}, Script: "#!/bin/sh\n"}))
	update := script.GetUpdateOptions()
	update.RevNote = "second"
	changed := need(client.UpdateStackscript(background, script.ID, update))
	check(changed.RevNote == "second" && changed.Images[0] == "linode/debian12", "script", changed)
	check(need(client.GetStackscript(background, script.ID)).Label == "walk", "script", nil)
	check(len(need(client.ListStackscripts(background, &linodego.ListOptions{Filter: `{"mine": true, "label": "walk"}`}))) == 1, "scripts", nil)
	none(client.DeleteStackscript(background, script.ID))
}

func catalogue(client *linodego.Client) {
	kernels := need(client.ListKernels(background, nil))
	check(len(kernels) > 300 && need(client.GetKernel(background, kernels[0].ID)).Label == kernels[0].Label, "kernels", nil)
	for _, found := range need(client.ListTypes(background, nil)) {
		check(found.Price.Monthly > 0 && need(client.GetType(background, found.ID)).Addons.Backups.Price.Hourly > 0, "type", found)
	}
	check(need(client.GetAccount(background)).Email == "alice@example.com", "account", nil)
	regions := need(client.ListRegions(background, nil))
	check(need(client.GetRegion(background, regions[0].ID)).Label == regions[0].Label, "region", nil)
	check(len(need(client.ListAccountAvailabilities(background, nil))) == len(regions), "availabilities", nil)
	check(len(need(client.GetAccountAvailability(background, regions[0].ID)).Available) > 0, "availability", nil)
}

func tags(client *linodego.Client) {
	tag := need(client.CreateTag(background, linodego.TagCreateOptions{Label: "green", Linodes: []int{1001}, Volumes: []int{4001}, NodeBalancers: []int{6001}}))
	check(len(need(client.ListTags(background, nil))) > 0, "tags", nil)
	sorted := need(need(client.ListTaggedObjects(background, tag.Label, nil)).SortedObjects())
	check(len(sorted.Instances) == 1 && len(sorted.NodeBalancers) == 1 && sorted.Volumes[0].LinodeID != nil && *sorted.Volumes[0].LinodeID == 1001, "tagged", sorted)
	none(client.DeleteTag(background, tag.Label))
}

func profile(client *linodego.Client) {
	own := need(client.GetProfile(background))
	check(own.LishAuthMethod != "", "profile", own)
	update := own.GetUpdateOptions()
	update.LishAuthMethod = linodego.AuthMethodKeysOnly
	check(need(client.UpdateProfile(background, update)).LishAuthMethod == linodego.AuthMethodKeysOnly, "updated profile", nil)
	app := need(client.ListProfileApps(background, nil))[0]
	check(need(client.GetProfileApp(background, app.ID)).Label == app.Label, "app", nil)
	none(client.DeleteProfileApp(background, app.ID))
	device := need(client.ListProfileDevices(background, nil))[0]
	check(need(client.GetProfileDevice(background, device.ID)).UserAgent == "Mozilla/5.0", "device", nil)
	none(client.DeleteProfileDevice(background, device.ID))
	login := need(client.ListProfileLogins(background, nil))[0]
	check(need(client.GetProfileLogin(background, login.ID)).Username == "alice", "login", nil)
	need(client.UpdateProfilePreferences(background, linodego.ProfilePreferences{"linode_id": "kept"}))
	check((*need(client.GetProfilePreferences(background)))["linode_id"] == "kept", "preferences", nil)
	key := need(client.CreateSSHKey(background, linodego.SSHKeyCreateOptions{Label: "laptop", SSHKey: os.Getenv("SSH_KEY")}))
	need(client.UpdateSSHKey(background, key.ID, linodego.SSHKeyUpdateOptions{Label: "desk"}))
	check(need(client.GetSSHKey(background, key.ID)).Label == "desk", "key", nil)
	check(len(need(client.ListSSHKeys(background, nil))) == 1, "keys", nil)
	none(client.DeleteSSHKey(background, key.ID))
}

func secondFactor(client *linodego.Client) {
	answers := linodego.SecurityQuestionsAnswerOptions{}
	for _, question := range need(client.SecurityQuestionsList(background)).SecurityQuestions[:3] {
		answers.SecurityQuestions = append(answers.SecurityQuestions, linodego.SecurityQuestionsAnswerQuestion{QuestionID: question.ID, Response: "answer"})
	}
	none(client.SecurityQuestionsAnswer(background, answers))
	secret := need(client.CreateTwoFactorSecret(background))
	code := codeOf(secret.Secret, pass(0))
	check(need(client.ConfirmTwoFactor(background, linodego.ConfirmTwoFactorOptions{TFACode: code})).Scratch != "", "second factor", nil)
	none(client.DisableTwoFactor(background))
}

// codeOf is the code of RFC 6238 for a time in seconds.
func codeOf(secret string, now int64) string {
	key := need(base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret))
	counter := make([]byte, 8)
	binary.BigEndian.PutUint64(counter, uint64(now/30))
	hash := hmac.New(sha1.New, key)
	hash.Write(counter)
	sum := hash.Sum(nil)
	offset := sum[19] & 15
	return fmt.Sprintf("%06d", (binary.BigEndian.Uint32(sum[offset:])&0x7fffffff)%1_000_000)
}

func phone(client *linodego.Client) {
	none(client.SendPhoneNumberVerificationCode(background, linodego.SendPhoneNumberVerificationCodeOptions{ISOCode: "US", PhoneNumber: "2015550123"}))
	message := string(need(os.ReadFile(os.Getenv("SMS"))))
	code := regexp.MustCompile(`code is (\d{6})`).FindAllStringSubmatch(message, -1)
	none(client.VerifyPhoneNumber(background, linodego.VerifyPhoneNumberOptions{OTPCode: code[len(code)-1][1]}))
	none(client.DeletePhoneNumber(background))
}

func tokens(client *linodego.Client) {
	token := need(client.CreateToken(background, linodego.TokenCreateOptions{Label: "reader", Scopes: "linodes:read_only stackscripts:read_write"}))
	need(client.UpdateToken(background, token.ID, linodego.TokenUpdateOptions{Label: "kept"}))
	check(need(client.GetToken(background, token.ID)).Label == "kept", "token", nil)
	check(len(need(client.ListTokens(background, nil))) > 1, "tokens", nil)
	none(client.DeleteToken(background, token.ID))
}

// pass advances the clock of the service and returns its time, in seconds.
func pass(seconds int) int64 {
	response := need(http.Get(fmt.Sprintf("%s/pass/%d", os.Getenv("CONTROL"), seconds)))
	defer response.Body.Close()
	var now int64
	none(json.NewDecoder(response.Body).Decode(&now))
	return now
}

func need[T any](value T, problem error) T {
	none(problem)
	return value
}

func none(problem error) {
	if problem != nil {
		panic(problem)
	}
}

func check(holds bool, name string, value any) {
	if !holds {
		panic(fmt.Sprintf("%s is wrong: %+v", name, value))
	}
}
