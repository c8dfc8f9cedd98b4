Fixpoint sum (n : nat) (f : nat -> Z) : Z :=
  match n with O => 0 | S m => sum m f + f m end.

Lemma sum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> sum n f = sum n g.
Proof.
  induction n; intros f g H; simpl; [reflexivity|].
  rewrite (IHn f g) by (intros; apply H; lia). rewrite (H n) by lia. reflexivity.
Qed.

Lemma sum_scale : forall n a f, sum n (fun i => a * f i) = a * sum n f.
Proof. induction n; intros a f; simpl; [ring|rewrite IHn; ring]. Qed.

Lemma sum_plus : forall n f g, sum n (fun i => f i + g i) = sum n f + sum n g.
Proof. induction n; intros f g; simpl; [ring|rewrite IHn; ring]. Qed.

Lemma sum_swap : forall n m f,
  sum n (fun i => sum m (fun k => f i k)) = sum m (fun k => sum n (fun i => f i k)).
Proof.
  induction n; intros m f; simpl.
  - induction m; simpl; [reflexivity|rewrite <- IHm; reflexivity].
  - rewrite IHn, <- sum_plus. reflexivity.
Qed.

Lemma sum_zero : forall n f, (forall i, (i < n)%nat -> f i = 0) -> sum n f = 0.
Proof.
  induction n; intros f H; simpl; [reflexivity|].
  rewrite IHn by (intros; apply H; lia). rewrite H by lia. reflexivity.
Qed.

Lemma sum_divide : forall n p f, (forall i, (i < n)%nat -> (p | f i)) -> (p | sum n f).
Proof.
  induction n; intros p f H; simpl; [apply Z.divide_0_r|].
  apply Z.divide_add_r; [apply IHn; intros; apply H; lia|apply H; lia].
Qed.

Definition delta (i j : nat) : Z := if Nat.eqb i j then 1 else 0.

Lemma sum_delta : forall n j c, (j < n)%nat -> sum n (fun i => c i * delta i j) = c j.
Proof.
  induction n; intros j c H; [lia|]. simpl. unfold delta at 2.
  destruct (Nat.eqb_spec n j).
  - subst. rewrite sum_zero; [ring|].
    intros i Hi. unfold delta. destruct (Nat.eqb_spec i j); [lia|ring].
  - rewrite IHn by lia. ring.
Qed.

Lemma bounded : forall r (c : nat -> Z), exists n, forall i, (i < r)%nat -> Z.abs (c i) <= Z.of_nat n.
Proof.
  induction r; intros c; [exists O; intros; lia|].
  destruct (IHr c) as [n Hn]. exists (Nat.max n (Z.to_nat (Z.abs (c r)))).
  intros i Hi. destruct (Nat.eq_dec i r).
  - subst. lia.
  - specialize (Hn i ltac:(lia)). lia.
Qed.

Section Independence.
Variables (r : nat) (p : Z) (J N : nat -> nat -> Z).
Hypothesis p_large : 2 <= p.
Hypothesis inverse : forall i j, (i < r)%nat -> (j < r)%nat ->
  (p | sum r (fun k => J i k * N k j) - delta i j).

Definition relation (c : nat -> Z) : Prop :=
  forall k, (k < r)%nat -> sum r (fun i => c i * J i k) = 0.

Lemma divisible : forall c, relation c -> forall j, (j < r)%nat -> (p | c j).
Proof.
  intros c Hc j Hj.
  assert (E : sum r (fun i => c i * (sum r (fun k => J i k * N k j) - delta i j)) = - c j).
  { rewrite (sum_ext r _ (fun i => sum r (fun k => c i * (J i k * N k j)) + (-1) * (c i * delta i j))).
    2: { intros i Hi. rewrite sum_scale. ring. }
    rewrite sum_plus, sum_scale, sum_delta by assumption.
    rewrite sum_swap, sum_zero; [ring|].
    intros k Hk. rewrite (sum_ext r _ (fun i => N k j * (c i * J i k))) by (intros; ring).
    rewrite sum_scale, Hc by assumption. ring. }
  apply Z.divide_opp_r. rewrite <- E. apply sum_divide.
  intros i Hi. apply Z.divide_mul_r. apply inverse; assumption.
Qed.

Lemma descent : forall n c, relation c -> (forall i, (i < r)%nat -> Z.abs (c i) <= Z.of_nat n) ->
  forall i, (i < r)%nat -> c i = 0.
Proof.
  induction n; intros c Hc Hn i Hi.
  - specialize (Hn i Hi). lia.
  - assert (D : forall k, (k < r)%nat -> c k = p * (c k / p)).
    { intros k Hk. destruct (divisible c Hc k Hk) as [q Hq].
      rewrite Hq at 2. rewrite Z.div_mul by lia. lia. }
    rewrite (D i Hi). rewrite (IHn (fun k => c k / p)); [ring| | |assumption].
    + intros k Hk. assert (F : p * sum r (fun i => c i / p * J i k) = 0).
      { rewrite <- sum_scale, <- (Hc k Hk). apply sum_ext. intros m Hm. rewrite (D m Hm) at 2. ring. }
      apply Z.mul_eq_0 in F. destruct F; [lia|assumption].
    + intros k Hk. specialize (Hn k Hk). pose proof (D k Hk) as E.
      rewrite E, Z.abs_mul in Hn. rewrite (Z.abs_eq p) in Hn by lia. nia.
Qed.

Theorem independent : forall c, relation c -> forall i, (i < r)%nat -> c i = 0.
Proof. intros c Hc. destruct (bounded r c) as [n Hn]. exact (descent n c Hc Hn). Qed.
End Independence.

Lemma nth_map_seq : forall (A : Type) (f : nat -> A) n i d, (i < n)%nat -> nth i (map f (seq 0 n)) d = f i.
Proof.
  intros A f n i d H. rewrite (nth_indep _ d (f 0%nat)) by (rewrite map_length, seq_length; lia).
  rewrite map_nth, seq_nth by lia. reflexivity.
Qed.

(* ---- More vectors than coordinates are dependent ---- *)

Definition skip (p i : nat) : nat := if Nat.ltb i p then i else S i.
Lemma sum_skip : forall m p f, (p <= m)%nat -> sum (S m) f = sum m (fun i => f (skip p i)) + f p.
Proof.
  induction m as [|m IH]; intros p f Hp.
  - replace p with O by lia. reflexivity.
  - destruct (Nat.eq_dec p (S m)) as [->|N].
    + change (sum (S (S m)) f) with (sum (S m) f + f (S m)). f_equal. apply sum_ext. intros i Hi.
      unfold skip. destruct (Nat.ltb_spec i (S m)); [reflexivity|lia].
    + change (sum (S (S m)) f) with (sum (S m) f + f (S m)). rewrite (IH p f) by lia.
      change (sum (S m) (fun i => f (skip p i))) with (sum m (fun i => f (skip p i)) + f (skip p m)).
      unfold skip at 3. destruct (Nat.ltb_spec m p); [lia|]. ring.
Qed.

Definition nontrivial (m : nat) (c : nat -> Z) : Prop := exists i, (i < m)%nat /\ c i <> 0.
Lemma trivial_or_not : forall m c, nontrivial m c \/ forall i, (i < m)%nat -> c i = 0.
Proof.
  induction m as [|m IH]; intros c; [right; intros; lia|]. destruct (Z.eq_dec (c m) 0) as [E|E].
  - destruct (IH c) as [[i [Hi N]]|H]; [left; exists i; split; [lia|assumption]|right].
    intros i Hi. destruct (Nat.eq_dec i m); [subst; assumption|apply H; lia].
  - left. exists m. split; [lia|assumption].
Qed.

Theorem dependent_rows : forall n m (v : nat -> nat -> Z), (n < m)%nat ->
  exists c, nontrivial m c /\ forall k, (k < n)%nat -> sum m (fun i => c i * v i k) = 0.
Proof.
  induction n as [|n IH]; intros m v Hm.
  - exists (fun _ => 1). split; [exists O; split; [assumption|discriminate]|intros; lia].
  - destruct (trivial_or_not m (fun i => v i n)) as [[p [Hp Np]]|Z0].
    + (* eliminate coordinate n by vector p *)
      destruct m as [|m]; [lia|].
      destruct (IH m (fun i k => v p n * v (skip p i) k - v (skip p i) n * v p k)) as [c [[i [Hi Ni]] Hc]]; [lia|].
      set (e := fun j => if Nat.eqb j p then - sum m (fun i => c i * v (skip p i) n)
                         else v p n * c (if Nat.ltb j p then j else (j - 1)%nat)).
      assert (E : forall i, e (skip p i) = v p n * c i).
      { intros k. unfold e, skip. destruct (Nat.ltb_spec k p).
        - destruct (Nat.eqb_spec k p); [lia|]. destruct (Nat.ltb_spec k p); [reflexivity|lia].
        - destruct (Nat.eqb_spec (S k) p); [lia|]. destruct (Nat.ltb_spec (S k) p); [lia|].
          replace (S k - 1)%nat with k by lia. reflexivity. }
      assert (EP : e p = - sum m (fun i => c i * v (skip p i) n)) by (unfold e; rewrite Nat.eqb_refl; reflexivity).
      exists e. split.
      * exists (skip p i). split; [unfold skip; destruct (Nat.ltb_spec i p); lia|].
        rewrite E. intros F. apply Z.mul_eq_0 in F. destruct F; contradiction.
      * assert (F : forall k, sum (S m) (fun i => e i * v i k) =
          sum m (fun i => c i * (v p n * v (skip p i) k - v (skip p i) n * v p k))).
        { intros k. rewrite (sum_skip m p) by lia. rewrite EP.
          rewrite (sum_ext m (fun i => e (skip p i) * v (skip p i) k) (fun i =>
            c i * (v p n * v (skip p i) k - v (skip p i) n * v p k) + v p k * (c i * v (skip p i) n)))
            by (intros; rewrite E; ring).
          rewrite sum_plus, sum_scale. ring. }
        intros k Hk. rewrite F. destruct (Nat.eq_dec k n) as [->|N].
        -- apply sum_zero. intros. ring.
        -- apply Hc. lia.
    + destruct (IH m v) as [c [N Hc]]; [lia|]. exists c. split; [assumption|].
      intros k Hk. destruct (Nat.eq_dec k n) as [->|E]; [|apply Hc; lia].
      apply sum_zero. intros i Hi. rewrite Z0 by assumption. ring.
Qed.
