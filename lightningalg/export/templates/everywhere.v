(* ==== The same at every point ==== *)

(* Suppose m > n - (number of fields) gradients are independent at theta. Then they are so modulo some q prime to p, and at every theta' congruent to
   theta modulo q. Choose theta' congruent to theta0 modulo p as well: there the fields are independent too, a contradiction. *)

(* Independent vectors have a right inverse, up to a factor. *)
Definition independent_vectors (n m : nat) (g : nat -> nat -> Z) : Prop :=
  forall c, (forall k, (k < n)%nat -> sum m (fun i => c i * g i k) = 0) -> forall i, (i < m)%nat -> c i = 0.

Lemma inverse_column : forall n m g, independent_vectors n m g -> forall j, (j < m)%nat ->
  exists x d, d <> 0 /\ forall i, (i < m)%nat -> sum n (fun k => g i k * x k) = d * delta i j.
Proof.
  intros n m g Hg j Hj. set (A := fun i l => sum n (fun k => g i k * g l k)).
  destruct (dependent_rows m (S m) (fun i l => if Nat.eqb i m then delta l j else A i l)) as [c [N Hc]]; [lia|].
  set (s := fun k => sum m (fun i => c i * g i k)).
  assert (E : forall l, (l < m)%nat -> sum n (fun k => g l k * s k) = - c m * delta l j).
  { intros l Hl. specialize (Hc l Hl). cbn [sum] in Hc. rewrite Nat.eqb_refl in Hc.
    assert (F : sum n (fun k => g l k * s k) = sum m (fun i => c i * (if Nat.eqb i m then delta l j else A i l))).
    { unfold s. rewrite (sum_ext n _ (fun k => sum m (fun i => c i * (g i k * g l k)))).
      - rewrite sum_swap. apply sum_ext. intros i Hi. rewrite sum_scale. destruct (Nat.eqb_spec i m); [lia|reflexivity].
      - intros k Hk. rewrite <- sum_scale. apply sum_ext. intros. ring. }
    rewrite F. lia. }
  exists s, (- c m). split; [|exact E].
  intros Z0. assert (C0 : c m = 0) by lia. destruct N as [i [Hi Ni]].
  assert (S0 : forall k, (k < n)%nat -> s k = 0).
  { apply sum_of_squares. transitivity (sum m (fun i => c i * sum n (fun k => g i k * s k))).
    - rewrite (sum_ext m _ (fun i => sum n (fun k => c i * (g i k * s k)))) by (intros; rewrite sum_scale; reflexivity).
      rewrite <- sum_swap. apply sum_ext. intros k Hk. unfold s at 1. rewrite Z.mul_comm, <- sum_scale.
      apply sum_ext. intros. ring.
    - apply sum_zero. intros l Hl. rewrite E, C0 by assumption. ring. }
  apply Ni. destruct (Nat.eq_dec i m) as [->|]; [assumption|]. apply (Hg c); [exact S0|lia].
Qed.

Lemma right_inverse : forall n m g, independent_vectors n m g ->
  exists N D, D <> 0 /\ forall i j, (i < m)%nat -> (j < m)%nat -> sum n (fun k => g i k * N k j) = D * delta i j.
Proof.
  intros n m g Hg.
  assert (P : forall b, (b <= m)%nat -> exists N D, D <> 0 /\
    forall i j, (i < m)%nat -> (j < b)%nat -> sum n (fun k => g i k * N k j) = D * delta i j).
  { induction b as [|b IH]; intros Hb; [exists (fun _ _ => 0), 1; split; [lia|intros; lia]|].
    destruct IH as [N [D [HD HN]]]; [lia|]. destruct (inverse_column n m g Hg b) as [x [d [Hd Hx]]]; [lia|].
    exists (fun k j => if Nat.eqb j b then D * x k else d * N k j), (D * d). split; [nia|].
    intros i j Hi Hj. destruct (Nat.eqb_spec j b) as [->|].
    - rewrite (sum_ext n _ (fun k => D * (g i k * x k))) by (intros; ring). rewrite sum_scale, Hx by assumption. ring.
    - rewrite (sum_ext n _ (fun k => d * (g i k * N k j))) by (intros; ring).
      rewrite sum_scale, HN by lia. ring. }
  exact (P m (le_n m)).
Qed.

Lemma dependent_or_independent : forall n m (g : nat -> nat -> Z),
  (exists c, nontrivial m c /\ forall k, (k < n)%nat -> sum m (fun i => c i * g i k) = 0) \/ independent_vectors n m g.
Proof.
  intros n. induction m as [|m IH]; intros g; [right; intros c _ i Hi; lia|].
  destruct (IH g) as [[c [[i [Hi Ni]] Hc]]|Hg].
  - left. exists (fun i => if Nat.eqb i m then 0 else c i). split.
    + exists i. split; [lia|]. destruct (Nat.eqb_spec i m); [lia|assumption].
    + intros k Hk. transitivity (sum m (fun i => c i * g i k)); [|apply Hc; assumption].
      cbn [sum]. rewrite Nat.eqb_refl, Z.mul_0_l, Z.add_0_r. apply sum_ext.
      intros l Hl. destruct (Nat.eqb_spec l m); [lia|reflexivity].
  - destruct (right_inverse n m g Hg) as [N [D [HD HN]]].
    set (b := fun j => sum n (fun k => g m k * N k j)).
    set (h := fun k => D * g m k - sum m (fun j => b j * g j k)).
    destruct (trivial_or_not n h) as [[k0 [Hk0 Nk0]]|Z0].
    + right. intros c Hc.
      assert (E : forall j, (j < m)%nat -> D * c j + c m * b j = 0).
      { intros j Hj. transitivity (sum n (fun k => N k j * sum (S m) (fun i => c i * g i k))).
        - rewrite (sum_ext n _ (fun k => sum m (fun i => c i * (g i k * N k j)) + c m * (g m k * N k j))).
          + rewrite sum_plus, sum_swap, sum_scale. fold (b j). f_equal.
            rewrite (sum_ext m _ (fun i => (D * c i) * delta i j)); [rewrite sum_delta by assumption; reflexivity|].
            intros i Hi. rewrite sum_scale, HN by assumption. ring.
          + intros k Hk. cbn [sum]. rewrite Z.mul_add_distr_l, <- sum_scale.
            f_equal; [apply sum_ext; intros; ring|ring].
        - apply sum_zero. intros k Hk. rewrite Hc by assumption. ring. }
      assert (M0 : c m = 0).
      { specialize (Hc k0 Hk0). cbn [sum] in Hc.
        assert (F : c m * h k0 = D * (sum m (fun i => c i * g i k0) + c m * g m k0)).
        { unfold h. rewrite Z.mul_add_distr_l, <- sum_scale.
          rewrite (sum_ext m (fun i => D * (c i * g i k0)) (fun i => (- c m) * (b i * g i k0))).
          - rewrite sum_scale. ring.
          - intros i Hi. specialize (E i Hi). replace (D * (c i * g i k0)) with ((D * c i) * g i k0) by ring.
            replace (D * c i) with (- (c m * b i)) by lia. ring. }
        rewrite Hc in F. apply Z.eq_mul_0_l with (m := h k0); [lia|exact Nk0]. }
      intros i Hi. destruct (Nat.eq_dec i m) as [->|]; [assumption|].
      specialize (E i ltac:(lia)). rewrite M0 in E. nia.
    + left. exists (fun i => if Nat.eqb i m then D else - b i). split.
      * exists m. split; [lia|]. rewrite Nat.eqb_refl. assumption.
      * intros k Hk. cbn [sum]. rewrite Nat.eqb_refl.
        rewrite (sum_ext m _ (fun i => (-1) * (b i * g i k))).
        -- rewrite sum_scale. specialize (Z0 k Hk). unfold h in Z0. lia.
        -- intros i Hi. destruct (Nat.eqb_spec i m); [lia|ring].
Qed.

(* ---- Points that are congruent modulo q ---- *)

Section Congruence.
Variables (q : Z) (theta theta' : list Z).
Hypothesis near : forall j, (q | nth j theta' 0 - nth j theta 0).

Lemma divide_product : forall a a' b b', (q | a' - a) -> (q | b' - b) -> (q | a' * b' - a * b).
Proof.
  intros a a' b b' [x Hx] [y Hy]. exists (x * b' + a * y).
  replace a' with (a + x * q) by lia. replace b' with (b + y * q) by lia. ring.
Qed.
Lemma divide_sum : forall a a' b b', (q | a' - a) -> (q | b' - b) -> (q | (a' + b') - (a + b)).
Proof. intros a a' b b' [x Hx] [y Hy]. exists (x + y). lia. Qed.
Lemma divide_same : forall a, (q | a - a).
Proof. intros. exists 0. lia. Qed.

Lemma value_near : forall p, (q | value theta' p - value theta p).
Proof.
  induction p as [|[c m] p IH]; [apply divide_same|]. unfold value. cbn [total]. apply divide_sum; [|exact IH].
  apply divide_product; [apply divide_same|]. induction m as [|j m IHm]; [apply divide_same|]. cbn [monomial_value].
  apply divide_product; [apply near|exact IHm].
Qed.

Variables (n t : nat).
Hypothesis theta_long : length theta = n.
Hypothesis theta'_long : length theta' = n.
Definition congruent (x : dual) (xs : nat -> dual) : Prop :=
  (q | fst (xs O) - fst x) /\ (q | snd (xs O) - snd x).
Lemma gradient_near : forall width net output Y X c, is_matrix width t X ->
  (q | gradient (run t net output) n theta' Y X c - gradient (run t net output) n theta Y X c).
Proof.
  intros width net output Y X c HX. unfold gradient.
  apply (related_outputs t congruent (along theta (unit_vector n c)) (fun _ => along theta' (unit_vector n c)))
    with (finish := fun F => F) (width := width); [| | | | |trivial|exact HX].
  - intros. split; apply divide_same.
  - intros x y xs ys [X1 X2] [Y1 Y2]. split; apply divide_sum; assumption.
  - intros x y xs ys [X1 X2] [Y1 Y2]. split; cbn [dmul fst snd]; [|apply divide_sum]; apply divide_product; assumption.
  - intros x y xs ys -> E [H1 H2]. split; rewrite E; assumption.
  - assert (U : length (unit_vector n c) = n) by (unfold unit_vector; rewrite map_length; apply seq_length).
    intros j. unfold congruent, along, dzero, dual. rewrite !combine_nth by congruence. cbn [fst snd].
    split; [apply near|apply divide_same].
Qed.
End Congruence.

Lemma independence_near : forall n fields theta p places inverse_columns,
  independence_check n fields theta p places inverse_columns = true ->
  2 <= p /\ forall theta', (forall j, (p | nth j theta' 0 - nth j theta 0)) -> independent_fields n fields theta'.
Proof.
  intros n fields theta p places N H. unfold independence_check in H. rewrite !Bool.andb_true_iff in H.
  destruct H as [[L Hp] H]. apply Nat.eqb_eq in L. destruct (matrix_inverse _ _ _ _ H) as [P HN]. split; [exact P|].
  intros theta' Hnear c Hc.
  set (M := fun theta j k => nth (nth k places O) (field_at n (nth j fields []) theta) 0).
  assert (Places : forall k, (k < length fields)%nat -> (nth k places O < n)%nat).
  { intros k Hk. rewrite forallb_forall in Hp. apply Nat.ltb_lt, Hp, nth_In. lia. }
  apply (independent (length fields) p (M theta') (fun k j => entry N j k) P).
  - intros i j Hi Hj. specialize (HN i j Hi Hj).
    replace (sum (length fields) (fun k => M theta' i k * entry N j k) - delta i j) with
      ((sum (length fields) (fun k => M theta' i k * entry N j k) - sum (length fields) (fun k => M theta i k * entry N j k)) +
       (sum (length fields) (fun k => M theta i k * entry N j k) - delta i j)) by ring.
    apply Z.divide_add_r.
    + replace (sum (length fields) (fun k => M theta' i k * entry N j k) - sum (length fields) (fun k => M theta i k * entry N j k))
        with (sum (length fields) (fun k => (M theta' i k - M theta i k) * entry N j k)).
      * apply sum_divide. intros k Hk. apply Z.divide_mul_l. unfold M, field_at.
        rewrite !nth_map_seq by (apply Places; assumption). apply value_near. exact Hnear.
      * rewrite (sum_ext _ _ (fun k => M theta' i k * entry N j k + (-1) * (M theta i k * entry N j k))) by (intros; ring).
        rewrite sum_plus, sum_scale. ring.
    + replace (sum (length fields) (fun k => M theta i k * entry N j k)) with
        (sum (length fields) (fun k => entry (map (fun w => let v := field_at n w theta in map (fun c => nth c v 0) places) fields) i k
          * entry N j k)); [exact HN|].
      apply sum_ext. intros k Hk. f_equal. unfold entry at 1. rewrite (nth_map_or field _ _ fields i [] []) by assumption.
      rewrite nth_map_or with (e := O) by lia. reflexivity.
  - intros k Hk. apply Hc, Places. assumption.
Qed.

(* If the fields are independent at one point modulo p, more than n - (number of fields) gradients are dependent at every point. *)
Theorem checked_fields_bound_the_rank_everywhere : forall n width height t net output checked,
  check_fields n width height t net output checked = true ->
  forall theta0 p places inverse_columns, length theta0 = n ->
  independence_check n (map fst checked) theta0 p places inverse_columns = true ->
  forall theta, length theta = n -> forall m, (n < m + length checked)%nat ->
  forall Y X : nat -> list (list Z), (forall i, (i < m)%nat -> is_matrix width t (X i)) ->
  exists c : nat -> Z, (exists i, (i < m)%nat /\ c i <> 0) /\
  forall k, (k < n)%nat -> sum m (fun i => c i * gradient (run t net output) n theta (Y i) (X i) k) = 0.
Proof.
  intros n width height t net output checked HC theta0 p places inverse L0 HI theta L m Hm Y X HX.
  set (G := fun theta i k => gradient (run t net output) n theta (Y i) (X i) k).
  destruct (dependent_or_independent n m (G theta)) as [H|Hind]; [exact H|exfalso].
  destruct (independence_near _ _ _ _ _ _ HI) as [Hp Hnear].
  destruct (right_inverse n m (G theta) Hind) as [N [D [HD HN]]].
  set (q := Z.abs D * p + 1). assert (Hq : 2 <= q) by (unfold q; nia).
  (* congruent to theta modulo q and to theta0 modulo p *)
  set (theta' := map (fun j => nth j theta 0 + q * (nth j theta0 0 - nth j theta 0)) (seq 0 n)).
  assert (L' : length theta' = n) by (unfold theta'; rewrite map_length; apply seq_length).
  assert (E : forall j, nth j theta' 0 = nth j theta 0 + q * (nth j theta0 0 - nth j theta 0)).
  { intros j. destruct (Nat.lt_ge_cases j n) as [Hj|Hj].
    - unfold theta'. rewrite nth_map_seq by assumption. reflexivity.
    - rewrite !nth_overflow by lia. ring. }
  destruct (checked_fields_bound_the_rank n width height t net output checked HC theta' L') with (m := m) (Y := Y) (X := X)
    as [c [[i [Hi Ni]] Hc]]; [|assumption|assumption|].
  { apply Hnear. intros j. rewrite E. exists (Z.abs D * (nth j theta0 0 - nth j theta 0)). unfold q. ring. }
  apply Ni.
  apply (independent m q (fun i j => sum n (fun k => G theta' i k * N k j)) (fun k j => (- (Z.sgn D * p)) * delta k j) Hq);
    [| |assumption].
  - intros a b Ha Hb.
    rewrite (sum_ext m _ (fun k => (- (Z.sgn D * p) * sum n (fun l => G theta' a l * N l k)) * delta k b)) by (intros; ring).
    rewrite sum_delta by assumption.
    replace (- (Z.sgn D * p) * sum n (fun l => G theta' a l * N l b) - delta a b) with
      (- (Z.sgn D * p) * sum n (fun l => (G theta' a l - G theta a l) * N l b) + (- delta a b) * q).
    + apply Z.divide_add_r; [|apply Z.divide_factor_r]. apply Z.divide_mul_r, sum_divide. intros k Hk. apply Z.divide_mul_l.
      apply gradient_near with (width := width); [|assumption|assumption|apply HX; assumption].
      intros j. rewrite E. exists (nth j theta0 0 - nth j theta 0). ring.
    + rewrite (sum_ext n _ (fun l => G theta' a l * N l b + (-1) * (G theta a l * N l b))) by (intros; ring).
      rewrite sum_plus, sum_scale, HN by assumption. unfold q. rewrite <- (Z.sgn_abs D). ring.
  - intros j Hj. rewrite (sum_ext m _ (fun i => sum n (fun k => N k j * (c i * G theta' i k)))).
    + rewrite sum_swap. apply sum_zero. intros k Hk. rewrite sum_scale. pose proof (Hc k Hk) as Z0.
      change (sum m (fun i => c i * G theta' i k) = 0) in Z0. rewrite Z0. ring.
    + intros a Ha. rewrite <- sum_scale. apply sum_ext. intros. ring.
Qed.
